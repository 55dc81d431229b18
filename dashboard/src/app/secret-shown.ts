/** Whether a dialog shows a secret that cannot be shown again, and would be gone with the page. */
export function isSecretShown(): boolean {
  return document.querySelector('[role="dialog"] [data-secret]') !== null;
}

const LOOK_AGAIN_MS = 1_000;

export function reloadOnceStored(): void {
  if (isSecretShown()) setTimeout(reloadOnceStored, LOOK_AGAIN_MS);
  else location.reload();
}
