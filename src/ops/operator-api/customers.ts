import { z } from 'zod';
import { knownCustomerId } from '../../capabilities/customers/schema.js';
import { erasedRecords } from '../../composition/capabilities.js';
import { eraseRecords, findHindrances, type Hindrances } from '../../core/erasure/erase.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';
import { WORKERS } from './roles.js';
import { existing, printed, reason, tenantId } from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';

/** Erases the personal data of a customer. */
export const eraseCustomer = operation({
  id: 'eraseCustomer',
  tag: 'Customers',
  method: 'post',
  path: '/customers/erase',
  summary: 'Erase the personal data of a customer; the books stay',
  description:
    'Refused with `invalid_state` while anything of the customer is open, and while saved responses may name it: the message ' +
    'lists what, and from when on. A repetition goes on where an erasure was stopped.',
  roles: WORKERS,
  body: z.strictObject({ tenant: tenantId, customer: knownCustomerId, reason }),
  act: 'customers.erase',
  answer: { status: 200, data: orWaiting(printed) },
});

/** The route that erases customers. */
export const customerRoutes = (deps: OperatorDeps): Route[] => [
  route(eraseCustomer, async (ctx, { body }) => {
    const { customers, audit, reports, database } = deps;
    const subject = { tenantId: body.tenant, customerId: body.customer };
    const found = await existing(customers.store.get(body.tenant, body.customer), 'customer');
    assertErasable(await findHindrances(reports, erasedRecords, subject, new Date()));
    // The record's id: the tenant's own may be an e-mail address, and the audit log keeps everything.
    const asked = actOf(ctx, 'customers.erase', found._id, {
      tenantId: body.tenant,
      reason: body.reason,
    });
    if (!found.erased_at) {
      const act = await permit(deps, ctx, { act: asked, input: { body } }, { act: 'erasure' });
      if (!act) return;
      await audit.act(act, async (session) => {
        const now = new Date();
        await customers.store.erase(found, now, session);
        return { result: true, before: null, after: { erased_at: now.toISOString() } };
      });
    }
    const { records, events } = await eraseRecords(
      { db: database.db, reports: reports.db },
      erasedRecords,
      subject,
      new Date(),
    );
    sendData(ctx, 200, { id: found._id, erased: { customers: 1, ...records }, events });
  }),
];

function assertErasable({ open, until }: Hindrances): void {
  if (open.length > 0) {
    refuse(`Nothing is erased yet. End these first: ${open.join('; ')}.`);
  }
  if (until !== null) {
    refuse(
      'Nothing is erased yet: responses that are saved for idempotency keys may name the customer. ' +
        `Run the command again after ${until.toISOString()}.`,
    );
  }
}

function refuse(message: string): never {
  throw new ApiError('invalid_state', { message });
}
