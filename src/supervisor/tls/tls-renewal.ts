/** Reads the proxy port's certificate and key again and again; only a usable pair comes into force. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CertificateStatus, TlsIdentity } from '../../vocabulary/channel.ts';
import type { TlsFiles } from '../../vocabulary/config.ts';
import { messageOf } from '../../vocabulary/errors.ts';
import { judgeCertificate, parseTlsPair, readTlsTexts, type TlsPair } from './read-tls-pair.ts';

/** A watch would see neither a link changed further up nor most network file systems. */
const TLS_POLL_MS = 5_000;
/** A stolen ticket key opens at most this much. */
const TICKET_KEYS_MS = 24 * 60 * 60_000;
const TICKET_KEYS_BYTES = 48;

export interface TlsRenewal {
  readonly identity: () => TlsIdentity;
  readonly status: () => CertificateStatus;
  /** Reads the files now and reports a problem at once. Never rejects. */
  readonly look: () => Promise<void>;
}

export interface TlsRenewalOptions {
  readonly files: TlsFiles;
  readonly onRenewed: (identity: TlsIdentity) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly pollMs?: number;
}

/** Rejects with an OperatorError when the files hold no usable pair. */
export async function openTlsRenewal(options: TlsRenewalOptions): Promise<TlsRenewal> {
  const { files, onRenewed, log, signal, pollMs = TLS_POLL_MS } = options;
  let pair = await parseTlsPair(files, await readTlsTexts(files));
  let ticketKeys = makeTicketKeys();
  let ticketKeysMs = performance.now();
  let problem: string | null = null;
  /** The problem of the last reading: files that are being written are wrong for a moment. */
  let suspicion: string | null = null;
  const flaw = judgeCertificate(pair, Date.now());
  if (flaw !== null) log.error(`${flaw}: clients will refuse it; the files are read again every few seconds`);

  function identity(): TlsIdentity {
    return { cert: pair.cert, key: pair.key, ticketKeys };
  }

  function putInForce(next: TlsPair): void {
    pair = next;
    ticketKeys = makeTicketKeys();
    ticketKeysMs = performance.now();
    onRenewed(identity());
  }

  async function readNext(): Promise<TlsPair | null> {
    const texts = await readTlsTexts(files);
    if (texts.cert === pair.cert && texts.key === pair.key) return null;
    const next = await parseTlsPair(files, texts);
    const nextFlaw = judgeCertificate(next, Date.now());
    if (nextFlaw !== null && judgeCertificate(pair, Date.now()) === null)
      throw new Error(`TOLLGATE_TLS_CERT: ${nextFlaw}`);
    return next;
  }

  async function look(isAsked: boolean): Promise<void> {
    try {
      const next = await readNext();
      if (problem !== null && next === null) log.info('the TLS files hold the pair in force again');
      problem = null;
      suspicion = null;
      if (next !== null) {
        putInForce(next);
        const validTo = new Date(next.validToMs).toISOString();
        log.info({ names: next.names, validTo }, 'a new certificate is in force for new connections');
      } else if (performance.now() - ticketKeysMs > TICKET_KEYS_MS) putInForce(pair);
    } catch (error) {
      const text = messageOf(error);
      const isSure = isAsked || text === suspicion;
      suspicion = text;
      if (!isSure || text === problem) return;
      problem = text;
      log.error(`the certificate before stays in force: ${text}`);
    }
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await sleep(pollMs, undefined, { signal, ref: false });
      await look(false);
    }
  }
  watch().catch(() => {}); // Only by the signal.

  return {
    identity,
    status: () => ({ validFromMs: pair.validFromMs, validToMs: pair.validToMs, names: pair.names, problem }),
    look: () => look(true),
  };
}

function makeTicketKeys(): string {
  return randomBytes(TICKET_KEYS_BYTES).toString('base64');
}
