import type { GroupCommit } from '../src/ledger/group-commit.js';
import type { Log } from '../src/log.js';
import type { CardIssuer } from '../src/providers/card-issuer.js';
import type { FirstTries } from '../src/pursuits/first-try.js';
import type { CardOperations, Cards } from '../src/cards/store.js';
import { recordActivities } from './pursuits.js';

export type CardActivityDeps = {
  cards: Cards;
  cardOperations: CardOperations;
  groupCommit: GroupCommit;
  providers: { issuer(name: string): CardIssuer };
  firstTries: FirstTries;
  log: Log;
};

/** What the pursuit of any operation on a card writes, whatever it is about. Names are in histories. */
export function createCardOperationActivities({ cardOperations }: CardActivityDeps) {
  const record = recordActivities({ name: 'card operation', records: cardOperations });
  return {
    readCardStanding: record.readStanding,
    noteCardOperator: record.noteOperator,
    raiseCardAttention: record.raiseAttention,
    noteCardCancellation: record.noteCancellation,
  };
}
