/** The parts of `ws` that its published types leave out: its reading of frames and of compressed messages. */
import type { Writable } from 'node:stream';

declare module 'ws' {
  export type ExtensionParameters = Record<string, readonly (string | true)[]>;

  export const extension: {
    /** Throws a SyntaxError on a malformed header. */
    parse(header: string): Record<string, ExtensionParameters[]>;
  };

  export class PerMessageDeflate {
    constructor(options: { readonly isServer: boolean; readonly maxPayload: number });
    /** Takes the negotiated parameters; throws when they cannot be. */
    accept(configurations: ExtensionParameters[]): unknown;
    cleanup(): void;
  }

  /** Reads frames from one direction of a connection. Masked payloads are unmasked in place, in the bytes it was given. */
  export class Receiver extends Writable {
    constructor(options: {
      readonly isServer: boolean;
      readonly maxPayload: number;
      readonly maxFragments?: number;
      readonly maxBufferedChunks?: number;
      readonly skipUTF8Validation?: boolean;
      readonly extensions?: Readonly<Record<string, PerMessageDeflate>>;
    });
    on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this;
    on(event: 'conclude', listener: (code: number, reason: Buffer) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'finish' | 'close' | 'drain', listener: () => void): this;
  }
}
