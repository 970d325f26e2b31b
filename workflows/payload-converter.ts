import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/workflow';

/** Stands for what somebody sent and nobody here can decode. By its key: bundlers may load this file twice. */
export const UNDECODABLE: unique symbol = Symbol.for('bursar.undecodable');

/**
 * The SDK's own converter, but for what is sent to a workflow: a signal in a foreign encoding, or with bytes that are
 * no JSON, would fail the workflow's task again and again for ever. It becomes a value, and the handler refuses that.
 * Results of our own activities stay strict. What is written is the same as ever.
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
