import {
  checkStatusOf,
  type IdentityCheck,
} from '../../../../src/capabilities/identity-checks/record.js';
import type { Customer } from '../../../../src/capabilities/customers/record.js';
import { checkBody, newCustomerId } from '../../../support/identity.js';
import { isolated } from '../common-checks.js';
import type { ChaosCluster } from '../cluster.js';
import { CHECKED_NUMBER } from '../planted.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';
import { createRequests, type SentRequest } from '../requests.js';
import type { Workload } from '../workload.js';
import { pickRecent } from './choosing.js';

/** The result of a check by the end of its number; see docs/guide/test-values.md. */
const RESULTS: Record<string, string> = {
  '789': 'verified',
  '001': 'verified',
  '002': 'rejected',
  '003': 'rejected',
  '004': 'verified',
  '007': 'verified',
  '010': 'verified',
};

const ALLOWED_TRANSITIONS = {
  pending: ['verified', 'rejected'],
  verified: [],
  rejected: [],
};

type Body = { number?: string; first_name: string };
type Sent = SentRequest<Body>;

/** Identity checks of the random-fault run, each of a new customer. */
export function createIdentityChecks(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const { look, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const { sent, send, repeat } = createRequests<Body>(cluster, random, problems);
  const { db } = cluster.service.deps.database;
  const accepted = () => sent.filter(({ answer }) => answer?.status === 201);

  /** Every accepted request has one check with the result of its number, which is gone; every check was requested. */
  async function check(received: ReceivedWebhooks): Promise<string[]> {
    const made = await db.collection<IdentityCheck>('identity_checks').find().toArray();
    const customers = await db.collection<Customer>('customers').find().toArray();
    const shown = new Map(customers.map(({ _id, checks }) => [_id, checks.bvn?.status]));
    const byId = new Map(made.map((one) => [one._id, one]));
    const requested = new Set(accepted().map(({ answer }) => answer?.id));
    return [
      ...sent.flatMap((one) => wrongOf(one, byId)),
      ...made.filter(({ _id }) => !requested.has(_id)).map(({ _id }) => `${_id} was not requested`),
      ...made
        .filter(({ sealed }) => sealed !== null)
        .map(({ _id }) => `${_id} has ended and keeps its number`),
      ...made
        .filter((one) => shown.get(one.customer) !== checkStatusOf(one))
        .map(({ _id }) => `${_id} is shown otherwise at its customer`),
      ...received.wrong(
        'kyc',
        made.map((one) => ({ ...one, status: 'completed' })),
      ),
      ...(await isolated(
        cluster,
        made.map((one) => ({ ...one, reference: one._id })),
        { one: (id) => `/identity/customers/${byId.get(id)?.customer_id}/kyc/${id}` },
      )),
    ];
  }

  return {
    name: 'identity-checks',
    weight: 0.6,
    async act() {
      const of = cluster.anyTenant(random);
      const customer = newCustomerId();
      const body: Body = checkBody('bvn', `${CHECKED_NUMBER}${random.pick(Object.keys(RESULTS))}`);
      const path = `/identity/customers/${customer}/kyc/bvn/verify`;
      await send({ of, path, body, key: `chaos ${customer}` });
    },
    async look() {
      if (accepted().length === 0) return;
      const { of, path, answer } = pickRecent(random, accepted());
      const id = String(answer?.id);
      await look({ of, path: path.replace('bvn/verify', id), id });
    },
    repeat,
    check,
    figures: () => ({ requests: sent.length, checks: accepted().length, reads: reads() }),
    problems,
  };
}

function wrongOf({ path, body, answer }: Sent, made: ReadonlyMap<string, IdentityCheck>): string[] {
  if (answer?.status !== 201) return [`${path} was not accepted: ${answer?.status}`];
  const check = made.get(String(answer.id));
  if (!check) return [`${answer.id} was accepted and is not there`];
  const wanted = RESULTS[String(body.number).slice(-3)];
  const status = checkStatusOf(check);
  return status === wanted ? [] : [`${check._id} is ${status} and should be ${wanted}`];
}
