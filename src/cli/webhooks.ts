import { InvalidArgumentError, type Command } from 'commander';
import type { Deps } from '../deps.js';
import type { Delivery } from '../webhooks/outbound/event.js';
import { MAX_ENDPOINTS } from '../webhooks/outbound/endpoints.js';
import { addCommand, CommandError } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest, printTable } from './print.js';

const LISTED = 100;
const HOUR_MS = 60 * 60 * 1000;
const MAX_OVERLAP_HOURS = 24 * 30;

export function addWebhookCommands(program: Command): void {
  const webhooks = program.command('webhooks');
  const endpoints = webhooks.command('endpoints').description('where they are told');
  addEndpointListing(endpoints);
  addEndpointChanges(endpoints);
  addDeliveryCommands(webhooks.command('deliveries').description('what was sent, and how it went'));
}

function addEndpointListing(endpoints: Command): void {
  addCommand<{ tenant: string; url: string }>(
    endpoints,
    'add',
    (command) =>
      command.requiredOption('--tenant <id>').requiredOption('--url <url>', 'https, and public'),
    async ({ tenants, webhooks }, { json, options: { tenant, url } }) => {
      if (!(await tenants.get(tenant))) throw new CommandError(`there is no tenant ${tenant}`);
      const problem = await webhooks.problemWith(url);
      if (problem !== null) throw new CommandError(`this address is not usable: ${problem}`);
      const added = await webhooks.endpoints.add(tenant, url);
      if (!added) throw new CommandError(`a tenant has ${MAX_ENDPOINTS} endpoints at the most`);
      print(json, added);
    },
  );

  addCommand<{ tenant?: string }>(
    endpoints,
    'list',
    (command) => command.option('--tenant <id>'),
    async ({ webhooks }, { json, options }) => {
      const found = await webhooks.endpoints.list(options.tenant);
      printTable(
        json,
        found.map(({ id, tenant, url, status, secrets, createdAt }) => ({
          id,
          tenant,
          url,
          status,
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
    asks = false,
  ) =>
    addCommand<{ yes?: boolean }>(
      endpoints,
      `${name} <endpoint>`,
      (command) => (asks ? addYes(command) : command).description(description),
      async (deps, { json, options: { yes }, args }) => {
        const id = String(args[0]);
        if (asks) await confirm(`Remove ${id} with its secret?`, { json, yes });
        if (!(await apply(deps, id))) throw new CommandError(`there is no endpoint ${id}`);
        print(json, { id, done: name });
      },
    );
  change(
    'remove',
    'what is under way to it is called off',
    ({ webhooks }, id) => webhooks.endpoints.remove(id),
    true,
  );
  change('disable', 'it gets nothing of what happens meanwhile', ({ webhooks }, id) =>
    webhooks.endpoints.setStatus(id, 'disabled'),
  );
  change('enable', 'it gets what happens from now on', ({ webhooks }, id) =>
    webhooks.endpoints.setStatus(id, 'enabled'),
  );

  addCommand<{ overlapHours: number }>(
    endpoints,
    'rotate <endpoint>',
    (command) =>
      command
        .description('a new secret; the present one signs along for a while')
        .option('--overlap-hours <n>', 'how long both sign', parseHours, 24),
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
    throw new InvalidArgumentError(`hours, ${MAX_OVERLAP_HOURS} at the most.`);
  }
  return hours;
}

function addDeliveryCommands(deliveries: Command): void {
  addCommand<{ tenant?: string; dead?: boolean }>(
    deliveries,
    'list',
    (command) =>
      command
        .description(`the latest ${LISTED}`)
        .option('--tenant <id>')
        .option('--dead', 'only those that were given up'),
    async ({ webhooks }, { json, options: { tenant, dead = false } }) => {
      const query = { dead, limit: LISTED, ...(tenant !== undefined && { tenant }) };
      printLatest(json, (await webhooks.deliveries.list(query)).map(presentRow), LISTED);
    },
  );

  addCommand(
    deliveries,
    'show <delivery>',
    (command) => command.description('with every attempt'),
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
    (command) => command.description('from the beginning, whatever became of it'),
    async ({ webhooks }, { json, args }) => {
      const delivery = await webhooks.redeliver(String(args[0]));
      if (!delivery) throw new CommandError(`there is no delivery ${args[0]}`);
      print(json, { id: delivery._id, status: delivery.status });
    },
  );
}

const presentRow = (delivery: Delivery) => ({
  id: delivery._id,
  tenant: delivery.tenant,
  endpoint: delivery.endpoint,
  event: delivery.event,
  name: delivery.name,
  resource: delivery.resource,
  status: delivery.status,
  tries: delivery.tries,
  due_at: delivery.due_at?.toISOString() ?? null,
  created_at: delivery.created_at.toISOString(),
  delivered_at: delivery.delivered_at?.toISOString() ?? null,
});
