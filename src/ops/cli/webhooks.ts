import { InvalidArgumentError, type Command } from 'commander';
import { LISTED } from '../operator-api/schema.js';
import {
  addEndpoint,
  changeEndpoint,
  getDelivery,
  listDeliveries,
  listEndpoints,
  MAX_OVERLAP_HOURS,
  pingEndpoint,
  redeliver,
  replayEvent,
  rotateEndpoint,
  updateEndpoint,
  type ENDPOINT_CHANGES,
} from '../operator-api/webhooks.js';
import { addApiCommand, addRecordCommand, flagOf } from './command.js';
import { addYes, confirm } from './confirm.js';
import { printSecret, withFile, type ToFile } from './secret-file.js';
import { print, printLatest, printTable } from './print.js';

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
  addApiCommand<ToFile & { tenant: string; url: string; events?: string[] }>(
    endpoints,
    'add',
    (command) =>
      withFile(command)
        .description('add an endpoint; its secret is printed once')
        .requiredOption('--tenant <id>', 'tenant whose events are sent')
        .requiredOption('--url <url>', 'address of the receiver: https, and public')
        .option(
          '--events <patterns>',
          'only these events, such as "transfer.*,*.failed"; all if left out',
          patternsOf,
        ),
    async (operator, { json, options: { tenant, url, events, ...file } }) => {
      const missing = `there is no tenant ${tenant}`;
      await printSecret({ json, ...file }, 'secret', () =>
        operator.call(addEndpoint, { body: { tenant, url, ...(events && { events }) } }, missing),
      );
    },
  );

  addApiCommand<{ tenant?: string }>(
    endpoints,
    'list',
    (command) =>
      command
        .description('list webhook endpoints')
        .option('--tenant <id>', 'only endpoints of this tenant'),
    async (operator, { json, options: { tenant } }) => {
      const query = { ...(tenant !== undefined && { tenant }) };
      printTable(json, await operator.call(listEndpoints, { query }));
    },
  );
}

function addEndpointChanges(endpoints: Command): void {
  const change = (name: (typeof ENDPOINT_CHANGES)[number], description: string) =>
    addApiCommand<{ yes?: boolean }>(
      endpoints,
      `${name} <endpoint>`,
      (command) => (name === 'remove' ? addYes(command) : command).description(description),
      async (operator, { json, options: { yes }, args }) => {
        const id = String(args[0]);
        if (name === 'remove') await confirm(`Remove ${id} with its secret?`, { json, yes });
        const input = { params: { id, change: name }, body: {} };
        print(json, await operator.call(changeEndpoint, input, noEndpoint(id)));
      },
    );
  change('remove', 'remove an endpoint and cancel its open deliveries');
  change('disable', 'stop sending events to an endpoint; they are not sent later either');
  change('enable', 'send events to a disabled endpoint again, from now on');
  change('resume', 'try a parked endpoint again, and send it what has waited');

  addApiCommand<{ events: string[] }>(
    endpoints,
    'update <endpoint>',
    (command) =>
      command
        .description('change the events that an endpoint gets, from now on')
        .requiredOption(
          '--events <patterns>',
          'only these events, such as "transfer.*,*.failed"; "*" for all',
          patternsOf,
        ),
    async (operator, { json, options: { events }, args }) => {
      const id = String(args[0]);
      const isAll = events.length === 1 && events[0] === '*';
      const input = { params: { id }, body: { events: isAll ? null : events } };
      print(json, await operator.call(updateEndpoint, input, noEndpoint(id)));
    },
  );

  addRecordCommand(endpoints, 'ping <endpoint>', pingEndpoint, {
    description: 'send a signed test event to an endpoint',
  });

  addApiCommand<ToFile & { overlapHours: number }>(
    endpoints,
    'rotate <endpoint>',
    (command) =>
      withFile(command)
        .description('create a new secret; until the overlap ends, both secrets sign')
        .option('--overlap-hours <n>', 'time for which both secrets sign', parseHours, 24),
    async (operator, { json, options: { overlapHours, ...file }, args }) => {
      const id = String(args[0]);
      const input = { params: { id }, body: { overlap_hours: overlapHours } };
      await printSecret({ json, ...file }, 'secret', () =>
        operator.call(rotateEndpoint, input, noEndpoint(id)),
      );
    },
  );
}

const patternsOf = (text: string): string[] => text.split(',').map((each) => each.trim());

const noEndpoint = (id: string) => `there is no endpoint ${id}`;

function parseHours(text: string): number {
  const hours = Number(text);
  if (text.trim() === '' || !(hours >= 0 && hours <= MAX_OVERLAP_HOURS)) {
    throw new InvalidArgumentError(`must be at most ${MAX_OVERLAP_HOURS} hours.`);
  }
  return hours;
}

function addDeliveryCommands(deliveries: Command): void {
  addApiCommand<{ tenant?: string; dead?: boolean }>(
    deliveries,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} deliveries`)
        .option('--tenant <id>', 'only deliveries of this tenant')
        .option('--dead', 'only deliveries whose last attempt failed'),
    async (operator, { json, options: { tenant, dead } }) => {
      const query = { dead: flagOf(dead), ...(tenant !== undefined && { tenant }) };
      printLatest(json, await operator.call(listDeliveries, { query }), LISTED);
    },
  );

  addApiCommand(
    deliveries,
    'show <delivery>',
    (command) => command.description('show a delivery with all attempts'),
    async (operator, { json, args }) => {
      const id = String(args[0]);
      const input = { params: { id } };
      const { delivery, attempts } = await operator.call(
        getDelivery,
        input,
        `there is no delivery ${id}`,
      );
      if (json) return print(json, { ...delivery, attempts });
      print(json, delivery);
      printTable(json, attempts);
    },
  );

  addRecordCommand(deliveries, 'redeliver <delivery>', redeliver, {
    description: 'send a delivery again, with the whole schedule of retries before it',
  });
}

function addEventCommands(events: Command): void {
  addRecordCommand(events, 'replay <event>', replayEvent, {
    description: 'send an event to all endpoints that its tenant has now',
  });
}
