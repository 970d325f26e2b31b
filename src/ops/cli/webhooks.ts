import { InvalidArgumentError, type Command } from 'commander';
import type { Deps } from '../../composition/deps.js';
import type { Delivery } from '../../core/webhooks/event.js';
import { MAX_ENDPOINTS } from '../../core/webhooks/endpoints.js';
import { addCommand, CommandError } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest, printTable } from './print.js';

const LISTED = 100;
const HOUR_MS = 60 * 60 * 1000;
const MAX_OVERLAP_HOURS = 24 * 30;

/** Adds the commands for webhook endpoints, deliveries and events. */
export function addWebhookCommands(program: Command): void {
  const webhooks = program.command('webhooks');
  const endpoints = webhooks.command('endpoints').description('manage webhook endpoints');
  addEndpointListing(endpoints);
  addEndpointChanges(endpoints);
  addDeliveryCommands(webhooks.command('deliveries').description('inspect webhook deliveries'));
  addEventCommands(webhooks.command('events').description('replay webhook events'));
}

function addEndpointListing(endpoints: Command): void {
  addCommand<{ tenant: string; url: string }>(
    endpoints,
    'add',
    (command) =>
      command
        .description('add an endpoint; its secret is printed once')
        .requiredOption('--tenant <id>', 'tenant whose events are sent')
        .requiredOption('--url <url>', 'address of the receiver: https, and public'),
    async ({ tenants, webhooks }, { json, options: { tenant: tenantId, url } }) => {
      if (!(await tenants.get(tenantId))) throw new CommandError(`there is no tenant ${tenantId}`);
      const problem = await webhooks.problemWith(url);
      if (problem !== null) throw new CommandError(`this address is not usable: ${problem}`);
      const added = await webhooks.endpoints.add(tenantId, url);
      if (!added) throw new CommandError(`a tenant has at most ${MAX_ENDPOINTS} endpoints`);
      print(json, added);
    },
  );

  addCommand<{ tenant?: string }>(
    endpoints,
    'list',
    (command) =>
      command
        .description('list webhook endpoints')
        .option('--tenant <id>', 'only endpoints of this tenant'),
    async ({ webhooks }, { json, options }) => {
      const found = await webhooks.endpoints.list(options.tenant);
      printTable(
        json,
        found.map(({ id, tenantId, url, status, failingSince, secrets, createdAt }) => ({
          id,
          tenant: tenantId,
          url,
          status,
          failing_since: failingSince?.toISOString() ?? null,
          secrets,
          created_at: createdAt.toISOString(),
        })),
      );
    },
  );
}

function addEndpointChanges(endpoints: Command): void {
  const change = (
    name: string,
    description: string,
    apply: (deps: Deps, id: string) => Changed,
    needsConfirmation = false,
  ) =>
    addCommand<{ yes?: boolean }>(
      endpoints,
      `${name} <endpoint>`,
      (command) => (needsConfirmation ? addYes(command) : command).description(description),
      async (deps, { json, options: { yes }, args }) => {
        const id = String(args[0]);
        if (needsConfirmation) await confirm(`Remove ${id} with its secret?`, { json, yes });
        if (!(await apply(deps, id))) throw new CommandError(`there is no endpoint ${id}`);
        print(json, { id, done: name });
      },
    );
  change(
    'remove',
    'remove an endpoint and cancel its open deliveries',
    ({ webhooks }, id) => webhooks.removeEndpoint(id),
    true,
  );
  change(
    'disable',
    'stop sending events to an endpoint; they are not sent later either',
    ({ webhooks }, id) => webhooks.disableEndpoint(id),
  );
  change('enable', 'send events to a disabled endpoint again, from now on', ({ webhooks }, id) =>
    webhooks.resumeEndpoint(id),
  );
  change('resume', 'try a parked endpoint again, and send it what has waited', ({ webhooks }, id) =>
    webhooks.resumeEndpoint(id),
  );

  addCommand<{ overlapHours: number }>(
    endpoints,
    'rotate <endpoint>',
    (command) =>
      command
        .description('create a new secret; until the overlap ends, both secrets sign')
        .option('--overlap-hours <n>', 'time for which both secrets sign', parseHours, 24),
    async ({ webhooks }, { json, options, args }) => {
      const id = String(args[0]);
      const rotated = await webhooks.endpoints.rotate(id, options.overlapHours * HOUR_MS);
      if (!rotated) throw new CommandError(`there is no endpoint ${id}`);
      const { secret, until } = rotated;
      print(json, { id, secret, old_secret_signs_until: until.toISOString() });
    },
  );
}

type Changed = Promise<boolean>;

function parseHours(text: string): number {
  const hours = Number(text);
  if (text.trim() === '' || !(hours >= 0 && hours <= MAX_OVERLAP_HOURS)) {
    throw new InvalidArgumentError(`must be at most ${MAX_OVERLAP_HOURS} hours.`);
  }
  return hours;
}

function addDeliveryCommands(deliveries: Command): void {
  addCommand<{ tenant?: string; dead?: boolean }>(
    deliveries,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} deliveries`)
        .option('--tenant <id>', 'only deliveries of this tenant')
        .option('--dead', 'only deliveries whose last attempt failed'),
    async ({ webhooks }, { json, options: { tenant: tenantId, dead = false } }) => {
      const query = { dead, limit: LISTED, ...(tenantId !== undefined && { tenantId }) };
      printLatest(json, (await webhooks.deliveries.list(query)).map(presentRow), LISTED);
    },
  );

  addCommand(
    deliveries,
    'show <delivery>',
    (command) => command.description('show a delivery with all attempts'),
    async ({ webhooks }, { json, args }) => {
      const delivery = await webhooks.deliveries.get(String(args[0]));
      if (!delivery) throw new CommandError(`there is no delivery ${args[0]}`);
      const row = { ...presentRow(delivery), sequence: delivery.sequence };
      const attempts = delivery.attempts.map(({ at, status, error, duration_ms: ms }) => ({
        at: at.toISOString(),
        status,
        error,
        duration_ms: ms,
      }));
      if (json) return print(json, { ...row, attempts });
      print(json, row);
      printTable(json, attempts);
    },
  );

  addCommand(
    deliveries,
    'redeliver <delivery>',
    (command) =>
      command.description('send a delivery again, with the whole schedule of retries before it'),
    async ({ webhooks }, { json, args }) => {
      const delivery = await webhooks.redeliver(String(args[0]));
      if (!delivery) throw new CommandError(`there is no delivery ${args[0]}`);
      print(json, { id: delivery._id, status: delivery.status });
    },
  );
}

function addEventCommands(events: Command): void {
  addCommand(
    events,
    'replay <event>',
    (command) => command.description('send an event to all endpoints that its tenant has now'),
    async ({ webhooks }, { json, args }) => {
      const id = String(args[0]);
      const deliveries = await webhooks.replay(id);
      if (!deliveries) throw new CommandError(`there is no event ${id}`);
      print(json, { id, deliveries });
    },
  );
}

const presentRow = (delivery: Delivery) => ({
  id: delivery._id,
  tenant: delivery.tenant_id,
  endpoint: delivery.endpoint_id,
  event: delivery.event_id,
  name: delivery.name,
  resource: delivery.resource_id,
  status: delivery.status,
  tries: delivery.attempt_count,
  retry_at: delivery.retry_at?.toISOString() ?? null,
  next_check_at: delivery.next_check_at?.toISOString() ?? null,
  created_at: delivery.created_at.toISOString(),
  delivered_at: delivery.delivered_at?.toISOString() ?? null,
});
