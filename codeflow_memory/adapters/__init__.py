"""Everything outside the database: git, secrets, stems, older stores, repositories' guidance."""
