import { capabilities, type CapabilityEvents, type Operations } from './capabilities.js';
import { openApiDocument } from '../platform/http/openapi.js';
import { apiTypeScript, type OpenApiDocument } from '../platform/http/typescript.js';
import { ERRORS } from '../shared/errors.js';

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

/** The document that is served at /openapi.json, and kept in the repository as openapi.json. */
export const openApi = openApiDocument(Object.values(operations), events, {
  title: 'Bursar',
  version: '1',
  description:
    'Transfers, cards and charges. Every accepted request eventually completes or fails.',
});

/** The API in TypeScript, kept in the repository as client/src/api.ts. */
export const clientApi = () =>
  apiTypeScript(
    Object.values(operations),
    openApi as unknown as OpenApiDocument,
    Object.keys(ERRORS),
  );
