"""Operations and bytes, counted on a shadow of the policy."""
