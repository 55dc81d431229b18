/** Buttons and links that look like buttons: one look for each weight. */
import { Check, Copy } from 'lucide-react';
import { type ButtonHTMLAttributes, type ReactNode, useEffect, useState } from 'react';

export type ButtonLook = 'primary' | 'plain' | 'quiet' | 'danger';

const LOOKS: Readonly<Record<ButtonLook, string>> = {
  primary: 'bg-accent text-accent-ink border-accent hover:opacity-90',
  plain: 'bg-panel text-ink border-line-strong/60 hover:bg-raised',
  quiet: 'bg-transparent text-ink-soft border-transparent hover:bg-raised hover:text-ink',
  danger: 'bg-panel text-bad border-bad/60 hover:bg-bad-soft',
};

export function buttonClass(look: ButtonLook = 'plain'): string {
  return `inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md border px-2.5 text-sm font-medium whitespace-nowrap transition-colors disabled:opacity-50 aria-disabled:opacity-50 ${LOOKS[look]}`;
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: ButtonLook;
  /** What it does is under way: it does nothing meanwhile, and keeps the focus, which a disabled button loses. */
  readonly isBusy?: boolean;
}

export function Button({ look = 'plain', className = '', type = 'button', isBusy = false, ...rest }: ButtonProps) {
  const shared = { ...rest, className: `${buttonClass(look)} ${className}` };
  return isBusy ? (
    <button {...shared} type="button" aria-disabled onClick={undefined} />
  ) : (
    <button {...shared} type={type} />
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly label: string;
  readonly children: ReactNode;
}

export function IconButton({ label, className = '', type = 'button', ...rest }: IconButtonProps) {
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      className={`inline-flex size-8 shrink-0 items-center justify-center rounded-md text-ink-soft hover:bg-raised hover:text-ink ${className}`}
      {...rest}
    />
  );
}

const COPIED_MS = 1_500;

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, e.g. `trace id`. */
  readonly what: string;
  /** Shown beside the icon; without it the button is the icon alone. */
  readonly label?: string;
}

export function CopyButton({ text, what, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      // Without the permission there is nothing to do but leave the text to be marked by hand.
      () => setCopied(false),
    );
  };
  const icon = isCopied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />;
  if (label === undefined)
    return (
      <IconButton label={isCopied ? `Copied ${what}` : `Copy ${what}`} onClick={copy}>
        {icon}
      </IconButton>
    );
  return (
    <Button onClick={copy} title={`Copy ${what}`}>
      {icon}
      {isCopied ? 'Copied' : label}
    </Button>
  );
}
