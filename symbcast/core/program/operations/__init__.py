"""Operations and their individual requirements."""
