"""The same programs given to symbcast and to others, and what each answers held against every size from 0 to 6."""
