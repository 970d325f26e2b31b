import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/workflow';

/** Value of a payload that cannot be decoded. A registered symbol, because bundlers may load this file twice. */
export const UNDECODABLE: unique symbol = Symbol.for('bursar.undecodable');

/**
 * The SDK's converter, except that an undecodable payload to a workflow becomes `UNDECODABLE`, which its handler rejects.
 * Otherwise a signal in a foreign encoding would fail the workflow task again and again. Results of activities stay
 * strict, and encoding is unchanged.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload(payload, context, hint) {
    try {
      return defaultPayloadConverter.fromPayload(payload, context, hint);
    } catch (error) {
      if (context?.type !== 'workflow') throw error;
      return UNDECODABLE as never;
    }
  },
};
