/** Parts of `ws` that its published types leave out. */
import type { Writable } from 'node:stream';

declare module 'ws' {
  export type ExtensionParameters = Record<string, readonly (string | true)[]>;

  export const extension: {
    /** Throws a SyntaxError. */
    parse(header: string): Record<string, ExtensionParameters[]>;
  };

  export class PerMessageDeflate {
    constructor(options: { readonly isServer: boolean; readonly maxPayload: number });
    /** Throws when the negotiated parameters are not acceptable. */
    accept(configurations: ExtensionParameters[]): unknown;
    cleanup(): void;
  }

  /** Reads frames of one direction; unmasks payloads in the given bytes. */
  export class Receiver extends Writable {
    constructor(options: {
      readonly isServer: boolean;
      readonly maxPayload: number;
      readonly maxFragments?: number;
      readonly skipUTF8Validation?: boolean;
      readonly extensions?: Readonly<Record<string, PerMessageDeflate>>;
    });
    on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this;
    on(event: 'conclude', listener: (code: number, reason: Buffer) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'finish' | 'close' | 'drain', listener: () => void): this;
  }
}
