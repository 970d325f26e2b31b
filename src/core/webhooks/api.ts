import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { withDaysInOrder, daysQuery, pageQuery, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { DELIVERY_STATUSES, PING } from './event.js';

const exampleEvent = {
  id: 'evt_01kaj2v6wte8v9kcz0t3yd4m5n',
  event: 'transfer.completed',
  resource: 'trf_01kaj2v6wte8v9kcz0t3yd4m5n',
  sequence: 2,
  created_at: '2026-11-21T09:30:00.000Z',
  data: { id: 'trf_01kaj2v6wte8v9kcz0t3yd4m5n', status: 'completed' },
  deliveries: [
    {
      id: 'dlv_01kaj2v6wte8v9kcz0t3yd4m5n',
      endpoint_id: 'whe_01kaj2v6wte8v9kcz0t3yd4m5n',
      status: 'delivered',
      attempts: 1,
      last_status_code: 200,
      delivered_at: '2026-11-21T09:30:00.120Z',
    },
  ],
};

const deliveryResource = z
  .object({
    id: idSchema('webhookDelivery'),
    endpoint_id: idSchema('webhookEndpoint'),
    status: z.enum(DELIVERY_STATUSES).meta({
      description:
        '`pending`: the first attempt is in progress. `retrying`: an attempt failed, another one follows. `delivered`: ' +
        'your endpoint answered 2xx. `dead`: the last attempt failed. `cancelled`: the endpoint was removed.',
    }),
    attempts: z.int().min(0).meta({ description: 'Number of attempts so far.' }),
    last_status_code: z.int().nullable().meta({
      description: 'HTTP status of the last attempt. Null without an answer.',
    }),
    delivered_at: timestamp('When your endpoint took the event first.').nullable(),
  })
  .meta({
    id: 'WebhookDelivery',
    description: 'The delivery of an event to one endpoint.',
    example: exampleEvent.deliveries[0],
  });

/** An event that was sent by webhook, as tenants get it. */
export const eventResource = z
  .object({
    id: idSchema('event').meta({
      description: 'The id that the webhook has as `webhook-id` and as `id`.',
    }),
    event: z.string().meta({ description: 'Name of the event.' }),
    resource: z.string().meta({ description: 'Id of the resource that changed.' }),
    sequence: z
      .int()
      .min(1)
      .meta({ description: 'Number of the event among those of its resource.' }),
    created_at: timestamp('When the change was made.'),
    data: z.unknown().meta({ description: 'The resource at that moment, as the webhook has it.' }),
    deliveries: z.array(deliveryResource).meta({ description: 'One for each endpoint.' }),
  })
  .meta({
    id: 'SentEvent',
    description: 'A webhook event, with its deliveries.',
    example: exampleEvent,
  });

/** No operation answers with it, so it is no component of the document. */
const pingResource = z
  .object({
    id: idSchema('event').meta({ description: 'The id of the event itself.' }),
    endpoint_id: idSchema('webhookEndpoint').meta({ description: 'The endpoint that is tried.' }),
  })
  .meta({ description: 'The test event.' });

/** The test event of an endpoint. */
export const pingEvents = {
  when: { [PING]: 'your operator tries an endpoint; nothing has changed' } as const,
  data: pingResource,
};

const tag = 'Events';

/** Lists the events that were sent to the tenant's endpoints. */
export const listEvents = operation({
  id: 'listEvents',
  tag,
  method: 'get',
  path: '/events',
  summary: 'List your events',
  description:
    'The events that were sent to your webhook endpoints, newest first, with their deliveries. Without an endpoint there are ' +
    'none. They are kept for 90 days unless the operator has set another time.',
  query: withDaysInOrder(
    z.strictObject({
      ...pageQuery(),
      event: z.string().min(1).max(100).optional().meta({
        description: 'Only events of this name.',
        example: 'transfer.completed',
      }),
      ...daysQuery('the change'),
    }),
  ),
  answer: { status: 200, data: eventResource, list: true },
});

/** Shows an event. */
export const getEvent = operation({
  id: 'getEvent',
  tag,
  method: 'get',
  path: '/events/{id}',
  summary: 'Get an event',
  params: { id: idSchema('event') },
  answer: { status: 200, data: eventResource },
});

/** The operations on events. */
export const eventOperations = { listEvents, getEvent };
