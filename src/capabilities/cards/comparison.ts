import type { Filter } from 'mongodb';
import type { InstructionFact } from '../../core/instructions/fact.js';
import type { InstructionLabels } from '../../core/instructions/workflow-contract.js';
import type { CardIssuer } from '../../core/providers/card-issuer.js';
import type { VerifyAnswer } from '../../core/providers/transfer-provider.js';
import { reconciledBy, type Reconciled } from '../../core/reconciliation/comparison.js';
import { recordsSince } from '../../core/reconciliation/pages.js';
import { comparedPayments } from '../../core/reconciliation/payment-answers.js';
import type { Database } from '../../platform/database/client.js';
import { issuerRateLimitKey } from '../../platform/temporal/queues.js';
import {
  OPERATIONS_BY_TIME,
  type CardOperation,
  type CardOperationType,
} from './card-operation.js';
import type { CardOperations } from './store.js';

/** The parts that the comparison of operations with their issuers needs. */
export type OperationComparisonDeps = {
  cards: {
    operations: Pick<CardOperations, 'get'>;
    starter: { notifyChangedSoon(operation: CardOperation): void };
  };
  database: Database;
  providers: { issuers: readonly CardIssuer[]; issuer(name: string): CardIssuer };
};

/** The operations of one capability that move money. */
type ComparedOperations = {
  /** The capability. */
  kind: string;
  types: readonly CardOperationType[];
  /** Operations that are left out. */
  except?: Filter<CardOperation>;
  labels: Pick<InstructionLabels, 'provider' | 'paid'>;
  /** Asks the issuer, and changes nothing. */
  ask(operation: CardOperation, issuer: CardIssuer, signal: AbortSignal): Promise<VerifyAnswer>;
  agrees(operation: CardOperation, answer: VerifyAnswer): boolean;
  applyFact(operation: CardOperation, fact: InstructionFact): Promise<unknown>;
};

/** Operations that move money, as they are compared with their issuers. An issuer that holds no balances has nothing to compare. */
export function reconciledOperations(
  { cards: { operations, starter }, database, providers }: OperationComparisonDeps,
  of: ComparedOperations,
): Reconciled {
  const find = (operation: CardOperation, signal: AbortSignal) =>
    of.ask(operation, providers.issuer(operation.provider), signal);
  const compared = comparedPayments<Compared>({
    kind: of.kind,
    rateLimitKey: issuerRateLimitKey,
    labels: of.labels,
    async get(tenantId, id) {
      const found = await operations.get(tenantId, id);
      return found && of.types.includes(found.type) ? (found as Compared) : null;
    },
    ask: find,
    verify: find,
    applyFact: (operation, fact) => of.applyFact(operation, fact),
    notifyChangedSoon: (operation) => starter.notifyChangedSoon(operation),
  });
  const ownBalances = providers.issuers.filter(({ cards }) => cards.balances === 'ours');
  const filter = {
    type: { $in: [...of.types] },
    // The index of these operations has those with an amount alone.
    amount_minor: { $type: 'long' },
    provider: { $nin: ownBalances.map(({ name }) => name) },
    ...of.except,
  } as Filter<Compared>;
  return reconciledBy({ ...compared, agrees: (...given) => of.agrees(...given) }, (scope, from) =>
    recordsSince(database.db.collection<Compared>('card_operations'), scope, from, {
      filter,
      index: OPERATIONS_BY_TIME,
    }),
  );
}

type Compared = CardOperation & { amount_minor: bigint };
