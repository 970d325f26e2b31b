import { LRUCache } from 'lru-cache';
import { createKeptList, createSharedEnquiry } from '../../shared/cached-answers.js';
import type {
  BillCategory,
  BillCustomer,
  Biller,
  BillItem,
  BillProvider,
  CustomerAnswer,
} from '../../core/providers/bill-provider.js';

const CALL_TIMEOUT_MS = 5_000;
/** Billers whose items one process keeps. */
const BILLERS_KEPT = 1_000;

/** The provider of new bill payments. */
type CurrentProvider = () => BillProvider;

/** The catalogue of billers. Each list is null if the provider has never told it. */
export type BillCatalogue = {
  categories(): Promise<readonly BillCategory[] | null>;
  billers(): Promise<readonly Biller[] | null>;
  /** The items of a biller; none if there is no such biller. */
  itemsOf(billerId: string): Promise<readonly BillItem[] | null>;
};

/** Creates the catalogue. Each process keeps the lists for an hour. */
export function createBillCatalogue(provider: CurrentProvider): BillCatalogue {
  const signal = () => AbortSignal.timeout(CALL_TIMEOUT_MS);
  const items = new LRUCache<string, () => Promise<readonly BillItem[] | null>>({
    max: BILLERS_KEPT,
  });

  const keepItems = (billerId: string) =>
    createKeptList(async () => {
      const answer = await provider().listItems(billerId, signal());
      return answer.kind === 'items' ? answer.items : null;
    });

  return {
    categories: createKeptList(async () => {
      const answer = await provider().listCategories(signal());
      return answer.kind === 'categories' ? answer.categories : null;
    }),
    billers: createKeptList(async () => {
      const answer = await provider().listBillers(signal());
      if (answer.kind !== 'billers') return null;
      return answer.billers.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
    }),
    itemsOf(billerId) {
      const kept = items.get(billerId) ?? keepItems(billerId);
      items.set(billerId, kept);
      return kept();
    },
  };
}

/** Asks the biller for a customer. Never throws because the biller is silent: that is `no_answer`. */
export type CustomerEnquiry = (customer: BillCustomer) => Promise<CustomerAnswer>;

/**
 * Creates the enquiry about customers. A call ends within `timeoutMs`, and concurrent calls about one customer share it.
 * "No such customer" is not kept, because the customer may be registered at any time.
 */
export const createCustomerEnquiry = (
  provider: CurrentProvider,
  timeoutMs: number,
): CustomerEnquiry =>
  createSharedEnquiry<BillCustomer, CustomerAnswer>({
    keyOf: ({ billerId, itemId, customerReference }) =>
      `${billerId}/${itemId}/${customerReference}`,
    ask: (customer) => provider().validate(customer, AbortSignal.timeout(timeoutMs)),
    isKept: ({ kind }) => kind === 'found',
  });
