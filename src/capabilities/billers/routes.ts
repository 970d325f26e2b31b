import { withSavedAnswer, type AnswerKeeper } from '../../core/idempotency/with-saved-answer.js';
import { callerOf } from '../../platform/http/context.js';
import { refuseUnlessAllowed, showTighterLimit } from '../../platform/http/rate-limit.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendPage } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { withoutDeadline } from '../../platform/http/time-limit.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import { ApiError } from '../../shared/errors.js';
import type { BankParts } from '../banks/index.js';
import { listBillCategories, listBillers, listBillItems, validateBillCustomer } from './api.js';
import { presentBiller, presentCategory, presentCustomer, presentItem } from './presenter.js';
import type { BillCatalogue, CustomerEnquiry } from './provider-calls.js';
import { billerUnavailable, itemAmong, unknownCustomer } from './rules.js';

/** The purpose of the fingerprints of enquiries about customers. */
const FINGERPRINT = 'billers.fingerprint';

/** The routes of the catalogue of billers, and of the enquiry about a customer. */
export const billerRoutes = ({
  billers: { catalogue, enquire },
  banks: { enquiryLimit },
  sealing,
  idempotency,
  groupCommit,
}: AnswerKeeper & {
  billers: { catalogue: BillCatalogue; enquire: CustomerEnquiry };
  banks: Pick<BankParts, 'enquiryLimit'>;
  sealing: Pick<Sealing, 'blindIndexes'>;
}): Route[] => [
  route(listBillCategories, async (ctx, { query }) => {
    const categories = await withoutDeadline(ctx, catalogue.categories());
    if (!categories) throw billerUnavailable();
    sendPage(ctx, categories.map(presentCategory), query);
  }),

  route(listBillers, async (ctx, { query }) => {
    const all = await withoutDeadline(ctx, catalogue.billers());
    if (!all) throw billerUnavailable();
    const { category: wanted } = query;
    const found = all.filter(({ category }) => wanted === undefined || category === wanted);
    sendPage(ctx, found.map(presentBiller), query);
  }),

  route(listBillItems, async (ctx, { params: { biller_id: id }, query }) => {
    const items = await withoutDeadline(ctx, catalogue.itemsOf(id));
    if (!items) throw billerUnavailable();
    if (items.length === 0) throw new ApiError('not_found');
    sendPage(
      ctx,
      items.map((item) => presentItem(id, item)),
      query,
    );
  }),

  route(validateBillCustomer, async (ctx, { body }) => {
    const key = {
      path: `${API_PREFIX}/billpay/validate`,
      // The number of a meter or a telephone under a plain hash is found by trying all of them.
      fingerprints: (request: string) => sealing.blindIndexes(request, FINGERPRINT),
    };
    await withSavedAnswer(ctx, { idempotency, groupCommit }, key, async () => {
      const { biller_id: billerId, item_id: itemId, customer_reference: customerReference } = body;
      const customer = { billerId, itemId, customerReference };
      const items = await withoutDeadline(ctx, catalogue.itemsOf(billerId));
      if (!items) throw billerUnavailable();
      itemAmong(items, itemId);
      const limit = await enquiryLimit(callerOf(ctx).tenant).count();
      showTighterLimit(ctx, limit);
      refuseUnlessAllowed(limit);
      const answer = await withoutDeadline(ctx, enquire(customer));
      if (answer.kind === 'not_found') throw unknownCustomer();
      if (answer.kind === 'no_answer') throw billerUnavailable();
      return presentCustomer(customer, answer.name);
    });
  }),
];
