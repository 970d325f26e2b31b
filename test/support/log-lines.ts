import { Writable } from 'node:stream';

/** A destination of a log that adds each line to a list. */
export const linesInto = (lines: string[]): Writable =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
