import { ApprovalRefused } from '../src/core/approvals/approval.js';
import type { OperatorActs } from '../src/core/approvals/operator-acts.js';
import type {
  AttestationResult,
  OperatorMessage,
  RecordRef,
} from '../src/core/instructions/workflow-contract.js';
import {
  CAPABILITIES,
  type InstructionStores,
  type InstructionType,
} from './instruction-stores.js';
import { noSuch } from './errors.js';

type Attestation = RecordRef & { type: InstructionType; operator: OperatorMessage };

/**
 * Creates the activity that lets an operator's word count that nothing of an instruction will be executed. Another person
 * approves it: without an approval it becomes a request. An approval is used here, in the transaction of the act's entry in
 * the audit log.
 */
export const createAttestation =
  ({ stores, operatorActs }: { stores: InstructionStores; operatorActs: OperatorActs }) =>
  async ({ type, tenantId, id, operator }: Attestation): Promise<AttestationResult> => {
    const record = await stores[type].get(tenantId, id);
    if (!record) throw noSuch(type);
    const act = await operatorActs.actOf(
      { capability: CAPABILITIES[type], tenantId, id },
      operator,
    );
    if (act.approval === null && operatorActs.needsApproval({ act: 'unproven' })) {
      const { _id: approval } = await operatorActs.requestApproval(act, record, operator);
      return { approval };
    }
    try {
      await operatorActs.attest(act, record);
      return {};
    } catch (error) {
      if (!(error instanceof ApprovalRefused)) throw error;
      return { refused: error.message };
    }
  };
