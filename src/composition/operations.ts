import { capabilities, type CapabilityEvents, type Operations } from './capabilities.js';
import { openApiDocument } from '../platform/http/openapi.js';
import { apiTypeScript, type OpenApiDocument } from '../platform/http/typescript.js';
import { ERRORS } from '../shared/errors.js';
import { readVersion } from '../shared/version.js';

/** Every operation of the API by its name. Each has a route; a test compares them with routes.ts. */
export const operations = Object.fromEntries(
  capabilities.flatMap(({ operations: own = {}, servedBy }) =>
    Object.entries(own).map(([name, operation]) => [
      name,
      { ...operation, ...(servedBy && { servedBy }) },
    ]),
  ),
) as Operations;

/** The webhook events that tenants receive. */
export const events = capabilities.flatMap(
  (capability) => capability.events ?? [],
) as CapabilityEvents[];

/** The groups of operations in the document. */
const TAGS = {
  Transfers: 'Payments from the wallet to bank accounts, one by one or in bulk, and the banks.',
  Cards: 'Cards, their states, money, security settings and authorizations.',
  Payments: 'Charges of customers, refunds, disputes, payment tokens and recurring charges.',
  'Virtual accounts': 'Bank accounts of customers, and the deposits on them.',
  Identity: 'Customers, and checks of their identity.',
  'Bill payments': 'Billers, their items, and payments to them.',
  Balance: 'The balance of the wallet, and its statement.',
  'Card events': 'Events that an issuer has reported about cards, and their replays.',
  'Provider callbacks': 'Addresses for the messages of providers, which sign them.',
  Events: 'The webhook events that were sent, with their deliveries.',
};

/** Makes the document that is served at /openapi.json, and kept in the repository as openapi.json. */
export const openApi = () =>
  openApiDocument(Object.values(operations), events, {
    title: 'Bursar',
    version: readVersion(),
    description:
      'Transfers, cards and charges. Every accepted request eventually completes or fails. Texts must be valid Unicode: an unpaired surrogate (`\\ud800` alone) is refused in every text and name of a body.',
    tags: TAGS,
  });

/** The API in TypeScript, kept in the repository as client/src/api.ts. */
export const clientApi = () =>
  apiTypeScript(
    Object.values(operations),
    openApi() as unknown as OpenApiDocument,
    Object.keys(ERRORS),
  );
