import type { OrderLookup } from './order-lookup.js';
import type { RequestRules } from '../shared/request-handler.js';
import type { IssuerState } from './state.js';
import type { Journal } from '../shared/journal.js';
import type { CardRecord } from './records.js';
import type { Timers } from '../shared/timers.js';

/** Everything that the issuer's parts depend on. */
export type CardContext = {
  state: IssuerState;
  journal: Journal<CardRecord>;
  timers: Timers;
  rules: RequestRules;
  sendsCallbacks: boolean;
  /** The party that keeps changes of a card's state in order: the issuer, by their versions, or the client. */
  stateSequence: 'issuer' | 'ours';
  /** The party that holds the balances of cards. With `ours` nothing is funded or unloaded here. */
  balances: 'issuer' | 'ours';
  /** The names by which clients find their orders. */
  lookup: OrderLookup;
};
