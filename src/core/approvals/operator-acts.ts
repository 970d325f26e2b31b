import type { ClientSession, Collection, Db } from 'mongodb';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { newId } from '../../shared/ids.js';
import { uncheckedText } from '../../shared/text.js';
import type { Act, Actor, AuditedJson } from '../audit/entry.js';
import type { Audit } from '../audit/store.js';
import type { InstructionRecord } from '../instructions/instruction.js';
import { instructionState } from '../instructions/instruction.js';
import type { OperatorMessage } from '../instructions/workflow-contract.js';
import type { Approval } from './approval.js';
import { reasonForApproval, type ApprovalPolicy, type PolicyCase } from './policy.js';
import type { Approvals } from './store.js';

/**
 * A command of an operator who has signed in, on its way through Temporal. The workflow gets its id alone; who it is and what
 * was approved is read here, so that no message to Temporal can claim it.
 */
type OperatorCommandDocument = {
  _id: string;
  tenant_id: string;
  action: string;
  target: string;
  force: boolean;
  session_id: string | null;
  amount_minor: number | null;
  attempt: number | null;
  absent: boolean;
  actor: Actor;
  reason: string | null;
  request_id: string | null;
  approval: string | null;
  created_at: Date;
  answered_at: Date | null;
  /** The message with which it was answered: a repeat of that message is no other one. */
  answered_message?: string;
};

/** The commands of operators who have signed in. */
export const operatorCommandsCollection: CollectionSpec = {
  name: 'operator_commands',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'action', 'target', 'force', 'actor', 'created_at', 'answered_at'],
    properties: {
      tenant_id: { bsonType: 'string' },
      action: { bsonType: 'string' },
      target: { bsonType: 'string' },
      force: { bsonType: 'bool' },
      actor: { bsonType: 'object' },
      created_at: { bsonType: 'date' },
      answered_at: { bsonType: ['date', 'null'] },
    },
  },
  indexes: [{ key: { created_at: 1 } }],
  shardBy: null,
};

/** The input of a command, beside its reason. */
export type CommandInput = {
  force: boolean;
  sessionId: string | null;
  amountMinor?: number | undefined;
  attempt?: number | undefined;
  absent?: boolean | undefined;
};

/** A record that a message is about, with the capability that names its commands. */
export type CommandedRecord = { capability: string; tenantId: string; id: string };

/** The acts of operators that come through Temporal. */
export type OperatorActs = ReturnType<typeof createOperatorActs>;

/** Creates the part that tells commands of signed-in operators from messages that anybody may have sent. */
export function createOperatorActs({
  db,
  audit,
  approvals,
  policy,
}: {
  db: Db;
  audit: Audit;
  approvals: Approvals;
  policy: ApprovalPolicy;
}) {
  const commands = db.collection<OperatorCommandDocument>(operatorCommandsCollection.name);

  /** The act of a message. Its actor is the operator who has signed in, or else a claim. */
  async function actOf(of: CommandedRecord, message: OperatorMessage): Promise<Act> {
    const { capability, tenantId, id } = of;
    const action = `${capability}.${message.kind}`;
    const known =
      message.command === undefined
        ? null
        : await commands.findOne({
            _id: message.command,
            tenant_id: tenantId,
            target: id,
            action,
            $or: [{ answered_at: null }, { answered_message: message.id }],
            ...inputOf(message),
          });
    const name = uncheckedText(message.actor);
    const claim = { operator: null, name, roles: [], claim: true } as const;
    return {
      id: known?._id ?? message.id,
      actor: known?.actor ?? claim,
      action,
      target: id,
      tenantId,
      reason: known ? known.reason : uncheckedText(message.reason),
      requestId: known?.request_id ?? null,
      approval: known?.approval ?? null,
    };
  }

  return {
    actOf,
    ...commandWrites({ commands, audit }),
    /** True if the policy wants the approval of a second person. */
    needsApproval: (asked: PolicyCase): boolean => reasonForApproval(policy, asked) !== null,
    requestApproval: requestsOf(approvals),

    /**
     * Lets the operator's word count that nothing of this record will be executed, and uses up the approval of that. Throws
     * `ApprovalRefused` if the approval does not permit it.
     */
    async attest(act: Act, record: InstructionRecord): Promise<void> {
      const before = instructionState(record);
      await audit.act(act, () =>
        Promise.resolve({ result: true, before, after: { ...before, absence: 'attested' } }),
      );
    },
  };
}

/** Stores the request for an approval of a command. */
const requestsOf =
  (approvals: Approvals) =>
  (act: Act, record: InstructionRecord, message: OperatorMessage): Promise<Approval> => {
    const body: Record<string, AuditedJson> = {
      reason: act.reason ?? '',
      force: message.force,
      ...(message.sessionId !== null && { session_id: uncheckedText(message.sessionId) }),
      ...(message.amountMinor !== undefined && { amount_minor: message.amountMinor }),
      ...(message.attempt !== undefined && { attempt: message.attempt }),
      ...(message.absent && { absent: true }),
    };
    return approvals.request(act, {
      target_state: instructionState(record),
      evidence: message.evidence,
      input: { params: { id: record._id }, body },
    });
  };

/** The input of a command as it is stored. A message that names a stored command must have the same. */
const inputOf = ({ force, sessionId, amountMinor, attempt, absent }: CommandInput) => ({
  force,
  session_id: sessionId,
  amount_minor: amountMinor ?? null,
  attempt: attempt ?? null,
  absent: absent ?? false,
});

/** The beginning and the end of a stored command. */
function commandWrites({
  commands,
  audit,
}: {
  commands: Collection<OperatorCommandDocument>;
  audit: Audit;
}) {
  return {
    /** Stores a command before it is sent to the workflow. Returns the id that the workflow gets. */
    async open(act: Act, input: CommandInput): Promise<string> {
      const _id = newId('operatorCommand');
      await commands.insertOne({
        _id,
        tenant_id: act.tenantId ?? '',
        action: act.action,
        target: act.target,
        ...inputOf(input),
        actor: act.actor,
        reason: act.reason,
        request_id: act.requestId,
        approval: act.approval,
        created_at: new Date(),
        answered_at: null,
      });
      return _id;
    },

    /**
     * Writes the end of a command: `note` adds it to the timeline, in the transaction of its entry in the audit log. The command
     * is answered, so that a later message with its id is a claim; a repeat for the same message writes nothing. An approval is
     * not used here: the commit that applied the command has used it.
     */
    async finish(
      act: Act,
      { message, result }: { message: string; result: string },
      note: (session: ClientSession) => Promise<void>,
    ): Promise<void> {
      await audit.note(act, async (session) => {
        const command = await commands.findOne({ _id: act.id }, { session });
        if (command?.answered_message === message) return null;
        await note(session);
        const set = { answered_at: new Date(), answered_message: message };
        await commands.updateOne({ _id: act.id }, { $set: set }, { session });
        return { result: true, before: null, after: { result } };
      });
    },
  };
}
