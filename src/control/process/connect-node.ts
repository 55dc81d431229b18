/**
 * What runs on a node once its database can be used: the shipper, the signs of life, and what its proxies are told
 * again and again. `own-node.ts` says when that is.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { PRICES_FILE } from '../../pricing/prices-file.ts';
import type { ChildChannel, ControlStart } from '../../vocabulary/channel.ts';
import { readVersion } from '../../vocabulary/version.ts';
import type { NodeBudgets } from '../budgets/node-budgets.ts';
import type { CurrentPriceBook } from '../prices/declared/current-price-book.ts';
import { type Shipper, type ShipperOptions, startShipper } from '../shipper/shipper.ts';
import type { ControlPools } from './control-pools.ts';
import { type CredentialPublisher, createCredentialPublisher } from './credential-publisher.ts';
import { createKeyPublisher, type KeyPublisher } from './key-publisher.ts';
import type { NodeClock } from './node-clock.ts';
import { type NodeLoad, type NodePresence, startPresence } from './node-presence.ts';
import { readOwnSettings } from './own-settings.ts';
import { createPausePublisher, type PausePublisher } from './pause-publisher.ts';
import { createPricePublisher } from './publish-prices.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';
import { repeatCountingNodes } from './repeat-counting-nodes.ts';
import { repeatPrices } from './repeat-prices.ts';

const KEY_POLL_MS = 500;
/** A call waits for it. */
const LEASE_POLL_MS = 40;
const PAUSE_POLL_MS = 500;

export interface Connected {
  readonly shipper: Shipper;
  readonly keys: KeyPublisher;
  readonly pauses: PausePublisher;
  readonly credentials: CredentialPublisher;
  readonly presence: NodePresence;
  readonly repeated: readonly Repeating[];
}

/** What a node has from its beginning. */
export interface NodeParts {
  readonly start: ControlStart;
  readonly channel: ChildChannel;
  readonly log: Logger;
  readonly id: string;
  readonly clock: NodeClock;
  readonly pools: ControlPools;
  readonly prices: CurrentPriceBook;
  readonly budgets: NodeBudgets;
  readonly quarantineDir: string;
  /** Whether the text of bodies is stored now, by this node's setting and that of all nodes. */
  readonly keepsTexts: () => boolean;
}

interface ConnectOptions extends NodeParts {
  readonly readLoad: () => Promise<NodeLoad>;
  readonly onEnded: NonNullable<ShipperOptions['onEnded']>;
}

export function connectNode(node: ConnectOptions): Connected {
  const { channel, log, clock, pools, prices, budgets } = node;
  const { config, ...start } = node.start;
  const shipper = startShipper({
    pool: pools.shipper,
    spoolDir: start.spoolDir,
    quarantineDir: node.quarantineDir,
    prices,
    log,
    nowMs: clock.nowMs,
    keepsTexts: node.keepsTexts,
    onEnded: node.onEnded,
  });
  const keys = createKeyPublisher({
    pool: pools.api,
    file: start.keysFile,
    log,
    send: (change) => channel.send({ type: 'publish-keys', change }),
  });
  const pauses = createPausePublisher(pools.api, (paused) => channel.send({ type: 'pauses', pauses: paused }));
  const credentials = createCredentialPublisher({
    pool: pools.api,
    keys: config.credentialKeys,
    send: (kept) => channel.send({ type: 'credentials', credentials: kept }),
    log,
  });
  const presence = startPresence({
    pool: pools.presence,
    id: node.id,
    name: config.node,
    version: readVersion(),
    role: config.role,
    clock,
    log,
    readLoad: node.readLoad,
    own: readOwnSettings(config, start.settings),
  });
  const watch = (pauseMs: number, failure: string, run: () => Promise<unknown>) =>
    repeatOnDatabase({ pauseMs, failure, log, run });
  return {
    shipper,
    keys,
    pauses,
    credentials,
    presence,
    repeated: [
      watch(KEY_POLL_MS, 'the keys could not be read', keys.poll),
      watch(KEY_POLL_MS, 'the budgets could not be read', budgets.poll),
      watch(LEASE_POLL_MS, 'money of budgets could not be exchanged with other nodes', budgets.exchange),
      watch(PAUSE_POLL_MS, 'what is paused could not be read', pauses.poll),
      watch(PAUSE_POLL_MS, 'the kept credentials could not be read', credentials.poll),
      repeatCountingNodes(channel.send, pools.api, log),
      repeatPrices(prices, pools.api, createPricePublisher(join(config.dataDir, PRICES_FILE)), log),
    ],
  };
}
