/** Sends what an alert found in the form of its destination: a signed webhook, a message of Slack, or mail. */
import { createHmac } from 'node:crypto';
import type { AlertConfig } from '../../vocabulary/config.ts';
import type { EgressProxies } from '../../vocabulary/egress-proxy.ts';
import { readErrorCode } from '../../vocabulary/errors.ts';
import type { Message, SendResult } from './alert-events.ts';
import type { Destination } from './destination.ts';
import { postJson } from './post-json.ts';

const SMTP_LIMIT_MS = 15_000;
const MAX_SLACK_CHARS = 3_000;

export interface SendOptions {
  readonly alerts: AlertConfig;
  readonly egress: EgressProxies;
  /** Of the dashboard, for a link. */
  readonly dashboardUrl: string | null;
}

export const NOT_OPENED: SendResult = {
  isSent: false,
  status: null,
  error:
    'not sent: its secret was sealed with a key that is not in TOLLGATE_CREDENTIALS_KEY of this node; add the key there, or make the destination again',
};

export function sendMessage(message: Message, destination: Destination, options: SendOptions): Promise<SendResult> {
  switch (destination.kind) {
    case 'webhook':
      return sendWebhook(message, destination, options);
    case 'slack':
      return sendToSlack(message, destination, options);
    case 'email':
      return sendMail(message, destination, options);
  }
}

function linkOf({ dashboardUrl }: SendOptions): string | null {
  return dashboardUrl === null ? null : `${dashboardUrl}/brakes`;
}

const outgoingOf = ({ alerts, egress }: SendOptions) => ({ allowedHosts: alerts.hosts, egress });

/** Standard Webhooks 1.0: the secret is base64 behind `whsec_`, and id, time and body are signed with dots between them. */
function signWebhook(secret: string, id: string, sentAt: Date, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const seconds = Math.floor(sentAt.getTime() / 1_000);
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
}

function sendWebhook(message: Message, { address, secret }: Destination, options: SendOptions): Promise<SendResult> {
  const sentAt = new Date();
  const body = JSON.stringify({
    type: message.alert === null ? 'alert.test' : 'alert.fired',
    timestamp: message.firedAt.toISOString(),
    data: {
      account_id: message.accountId,
      alert: message.alert,
      subject: message.subject,
      title: message.title,
      body: message.body,
      numbers: message.numbers,
      url: linkOf(options),
    },
  });
  const headers = {
    'webhook-id': message.id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': signWebhook(secret ?? '', message.id, sentAt, body),
  };
  return postJson(address, body, headers, outgoingOf(options));
}

/** Slack reads these three characters as markup. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').slice(0, MAX_SLACK_CHARS);
}

function sendToSlack(message: Message, { address }: Destination, options: SendOptions): Promise<SendResult> {
  const link = linkOf(options);
  const lines = [`*${slackText(message.title)}*`, slackText(message.body), ...(link === null ? [] : [`<${link}>`])];
  return postJson(address, JSON.stringify({ text: lines.join('\n') }), {}, outgoingOf(options));
}

async function sendMail(message: Message, { address }: Destination, options: SendOptions): Promise<SendResult> {
  const { smtpUrl, smtpFrom } = options.alerts;
  if (smtpUrl === null)
    return { isSent: false, status: null, error: 'no mail is sent: the operator has not set TOLLGATE_SMTP_URL' };
  // Loaded with the first mail: 5 MB that most gateways never need.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: SMTP_LIMIT_MS,
    greetingTimeout: SMTP_LIMIT_MS,
    socketTimeout: SMTP_LIMIT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const link = linkOf(options);
  try {
    await transport.sendMail({
      from: smtpFrom,
      to: address,
      subject: message.title,
      text: [message.body, ...(link === null ? [] : [link])].join('\n\n'),
      // Repeated tries have one id.
      messageId: `<${message.id}@tollgate>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    return { isSent: true, status: null, error: null };
  } catch (error) {
    // The message may quote the server's greeting and our address; the code says enough.
    return {
      isSent: false,
      status: null,
      error: `the mail was not taken (${readErrorCode(error) ?? 'no reason given'})`,
    };
  } finally {
    transport.close();
  }
}
