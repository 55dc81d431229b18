/** Reads the ledger of calls again when the first reading may lie between two moments. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Status } from './findings.ts';
import type { GatewayClient } from './gateway-client.ts';
import { isUncertain, type Ledger } from './judge-ledger.ts';

/** Processes report every second. */
const SECOND_READING_MS = 1_500;

export async function readAgain(client: GatewayClient, accounts: Ledger): Promise<Ledger> {
  if (!isUncertain(accounts)) return accounts;
  await sleep(SECOND_READING_MS);
  const { accounts: later } = await client.ask(Status, '/api/v1/status');
  return later ?? accounts;
}
