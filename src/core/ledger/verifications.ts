import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { newAudit, type AuditScope, type AuditState } from './audit.js';
import type { VerificationDocument } from './collections.js';

/** Longest time between two saves: a verification that is continued repeats at most this much. */
const SAVE_EVERY_MS = 1_000;

/** A verification whose progress is kept. */
export type Verification = {
  scope: AuditScope;
  state: AuditState;
  /** Saves the state now and then, and always when it has ended. */
  save: (state: AuditState) => Promise<void>;
};

/** Begins a verification. */
export async function beginVerification(db: Db, scope: AuditScope): Promise<Verification> {
  const now = new Date();
  const id = randomUUID();
  const state = newAudit();
  await verifications(db).insertOne({
    _id: id,
    started_at: now,
    updated_at: now,
    ended_at: null,
    tenant_id: scope.tenantId ?? null,
    from: scope.from ?? null,
    state: JSON.stringify(state),
  });
  return { scope, state, save: saver(db, id) };
}

/** The last verification that has not ended, from its last saved state on; null without one. */
export async function resumeVerification(db: Db): Promise<Verification | null> {
  const last = await verifications(db).findOne({ ended_at: null }, { sort: { started_at: -1 } });
  if (!last) return null;
  const { _id: id, tenant_id: tenantId, from } = last;
  return {
    scope: { tenantId, from },
    state: JSON.parse(last.state) as AuditState,
    save: saver(db, id),
  };
}

function saver(db: Db, id: string): Verification['save'] {
  let savedAt = performance.now();
  return async (state) => {
    const ended = state.position.step === 'ended';
    if (!ended && performance.now() - savedAt < SAVE_EVERY_MS) return;
    savedAt = performance.now();
    const now = new Date();
    const set = { updated_at: now, ended_at: ended ? now : null };
    await verifications(db).updateOne(
      { _id: id },
      { $set: { ...set, state: JSON.stringify(state) } },
    );
  };
}

const verifications = (db: Db) => db.collection<VerificationDocument>('ledger_verifications');
