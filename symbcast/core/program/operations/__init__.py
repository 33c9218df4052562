"""Operations and what each requires on its own."""
