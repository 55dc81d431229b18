/** Takes exact numbers of bytes from a stream of chunks. */

export interface ByteReader {
  readonly take: (length: number) => Promise<Buffer | null>;
  readonly close: () => Promise<void>;
}

export function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);

  async function more(): Promise<boolean> {
    const next = await chunks.next();
    if (next.done === true) return false;
    rest = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    return true;
  }

  return {
    async take(length) {
      const parts: Buffer[] = [];
      let missing = length;
      for (;;) {
        const part = rest.subarray(0, missing);
        rest = rest.subarray(part.length);
        missing -= part.length;
        parts.push(part);
        if (missing === 0) return parts.length === 1 ? part : Buffer.concat(parts, length);
        if (!(await more())) return null;
      }
    },
    async close() {
      await chunks.return?.();
    },
  };
}
