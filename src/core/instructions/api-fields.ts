import { z } from 'zod';
import { timestamp } from '../../platform/http/wire.js';
import { TIMELINE_TYPES, type TimelineEntry } from './instruction.js';

/** Status of an instruction in the API. */
export const instructionStatus = z.enum(['pending', 'processing', 'completed', 'failed']);

/** Schema of the reason of a failure; null without one. */
export const failureField = z.object({ code: z.string(), message: z.string() }).nullable();

/** Schema of a call for an operator; null without one. */
export const attentionField = z
  .object({ since: timestamp('When the attention began.'), reason: z.string() })
  .nullable()
  .meta({ description: 'Time and reason of the call for one of our operators; null without one.' });

/** Schema of one timeline entry. */
export const timelineEntryResource = z
  .object({
    at: timestamp('Time of the step.'),
    type: z.enum(TIMELINE_TYPES),
    actor: z.string(),
    detail: z.string().nullable(),
    provider_request_id: z.string().nullable(),
  })
  .meta({
    id: 'TimelineEntry',
    description: 'A step in the history of a resource.',
    example: {
      at: '2026-11-21T09:30:02.000Z',
      type: 'provider_answer',
      actor: 'sandbox-bank',
      detail: 'succeeded',
      provider_request_id: 'sbr_3967265a6600_2',
    },
  });

/** A timeline entry with the fields that clients may see. */
export function presentTimelineEntry(entry: TimelineEntry): z.infer<typeof timelineEntryResource> {
  return {
    at: entry.at.toISOString(),
    type: entry.type,
    actor: entry.actor,
    detail: entry.detail,
    provider_request_id: entry.provider_request_id,
  };
}
