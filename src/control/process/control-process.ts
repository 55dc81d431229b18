/** The control process: its node's work and its role's. Its admin port opens before the database answers. */
import type { Logger } from 'pino';
import { readOpenFileLimit } from '../../sockets/open-file-limit.ts';
import { createTrustedPeers } from '../../sockets/trusted-peers.ts';
import type { ChildChannel, ControlStart } from '../../vocabulary/channel.ts';
import type { Config } from '../../vocabulary/config.ts';
import { returnMemoryAtRest } from '../../vocabulary/return-memory.ts';
import { watchAdminAccess } from '../admin/admin-access.ts';
import { type AdminServer, limitAdmin, listenAdmin } from '../admin/admin-server.ts';
import type { CurrentPriceBook } from '../prices/declared/current-price-book.ts';
import type { CreateNodeFace } from './node-face.ts';
import { type OwnNode, openOwnNode } from './own-node.ts';

const DRAIN_LIMIT_MS = 10_000;
/** Without a supervisor the process must be gone within 5 s. */
const ORPHAN_DRAIN_MS = 3_000;

export interface ControlOptions {
  readonly connectToSupervisor: () => ChildChannel;
  readonly createLog: (settings: { readonly level: Config['logLevel']; readonly role: string }) => Logger;
  readonly openPrices: () => Promise<CurrentPriceBook>;
  /** The code of the other role is not loaded. */
  readonly createFace: CreateNodeFace;
  /** Called when the API is up, with its port. */
  readonly onListening?: (port: number) => void;
  readonly exit?: (code: number) => void;
}

/** Ends when the supervisor says stop or is gone. Throws an OperatorError when the admin address cannot be used. */
export async function runControlProcess(options: ControlOptions): Promise<void> {
  const channel = options.connectToSupervisor();
  const prices = await options.openPrices();
  await serve(options, channel, prices);
  const exit = options.exit ?? ((code: number) => process.exit(code));
  exit(0);
}

function serve(options: ControlOptions, channel: ChildChannel, prices: CurrentPriceBook): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let control: Control | null = null;
  channel.onMessage((message) => {
    if (message.type === 'start') {
      if (message.role !== 'control' || control !== null) return;
      control = createControl(options, channel, prices, message);
      control.listen().catch(reject);
    } else if (message.type === 'stop') {
      end(Math.min(DRAIN_LIMIT_MS, message.graceMs));
    } else {
      control?.node.receive(message);
    }
  });
  channel.onDisconnect(() => end(ORPHAN_DRAIN_MS));
  let isEnding = false;
  function end(drainMs: number): void {
    if (isEnding) return;
    isEnding = true;
    if (control === null) resolve();
    else control.close(drainMs).then(resolve, reject);
  }
  return promise;
}

interface Control {
  readonly node: OwnNode;
  readonly listen: () => Promise<void>;
  readonly close: (drainMs: number) => Promise<void>;
}

function createControl(
  options: ControlOptions,
  channel: ChildChannel,
  prices: CurrentPriceBook,
  start: ControlStart,
): Control {
  const { config } = start;
  const log = options.createLog({ level: config.logLevel, role: 'control' });
  const node = openOwnNode(start, channel, prices, log);
  const access = watchAdminAccess(log);
  const face = options.createFace(node, access);
  node.begin(face.begin);
  let server: AdminServer | null = null;
  return {
    node,
    listen: async () => {
      server = await listenAdmin(face.app, config.adminHost, config.adminPort, {
        limits: limitAdmin(readOpenFileLimit()),
        trusted: createTrustedPeers(config.trustedProxies),
        onClosedConnection: access.noteClosedConnection,
      });
      options.onListening?.(server.port);
      channel.send({ type: 'ready' });
      returnMemoryAtRest();
    },
    close: async (drainMs) => {
      await server?.close();
      await node.close(drainMs, face.stop());
    },
  };
}
