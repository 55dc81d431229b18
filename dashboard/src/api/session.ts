/** Whether this browser is signed in. The cookie itself is out of reach of scripts. */
import { ApiError, getJson, sendJson } from './client.ts';

export async function isSignedIn(): Promise<boolean> {
  try {
    await getJson('/session', {});
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}

/** By the code of a one-time link, or by the admin token. Throws an ApiError with the reason. */
export async function signIn(proof: { readonly code: string } | { readonly token: string }): Promise<void> {
  await sendJson('post', '/session', {}, proof);
}

export async function signOut(): Promise<void> {
  await sendJson('delete', '/session', {});
}
