-- Which rules made the rows of the keyword index. Terms follow from the texts: where the rules that
-- made them are older than the program's, a job makes them anew.

ALTER TABLE store ADD COLUMN terms_version INTEGER NOT NULL DEFAULT 1;
