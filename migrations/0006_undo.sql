-- Undo: which changes one batch made, and which were a principal's last. Both ask the audit, which
-- names batch, item and revisions of every change; its times never step back.

CREATE INDEX audit_of_batch ON audit (batch_id, sequence);
CREATE INDEX audit_of_principal ON audit (principal_id, at, sequence);
