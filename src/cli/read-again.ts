/** The account of all calls, read a second time where the first reading may have been caught between two moments. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Status } from './findings.ts';
import type { GatewayClient } from './gateway-client.ts';
import { type Accounts, isUncertain } from './judge-accounts.ts';

/** The processes say how they are every second. */
const SECOND_READING_MS = 1_500;

/** The same account when it is certain, else that of a moment later. */
export async function readAgain(client: GatewayClient, accounts: Accounts): Promise<Accounts> {
  if (!isUncertain(accounts)) return accounts;
  await sleep(SECOND_READING_MS);
  const { accounts: later } = await client.ask(Status, '/api/v1/status');
  return later ?? accounts;
}
