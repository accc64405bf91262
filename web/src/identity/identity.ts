// The operator's identity: name, logo, notice and attribution, as the server's configuration has them. Texts are plain, with
// links; nothing of them is read as HTML.

import './identity.css';
import { ICONS, h, icon } from '../dom';
import { setSetting, setting } from '../history';
import type { Language } from '../link';
import { t } from '../text/lookup';

/** A part of a text: plain, or a link. */
export interface TextPart {
  text: string;
  href?: string;
}

/** What `/api/snapshot` has under `page`. */
export interface Identity {
  name: string | null;
  /** The address of the logo on this server. */
  logo: string | null;
  notice: TextPart[];
  attribution: TextPart[];
  query: { language: Language; text: string } | null;
  language: string | null;
}

const PRODUCT = 'Terrapin';

let shown: Identity | null = null;

/** From now on the page shows this identity. */
export function useIdentity(identity: Identity | null | undefined): void {
  shown = identity ?? null;
  document.title = siteName();
}

/** Returns the name of the site. */
export const siteName = (): string => shown?.name ?? PRODUCT;

/** Returns whether the operator gave the site a name or a logo. */
export const siteHasIdentity = (): boolean => Boolean(shown?.name || shown?.logo);

/** Returns the operator's query if it is in this language. */
export const defaultQuery = (language: Language): string | undefined => (shown?.query?.language === language ? shown.query.text : undefined);

/** Returns the language of the operator's query. */
export const defaultLanguage = (): Language | undefined => shown?.query?.language;

/** Returns logo and name. */
export function brand(): (HTMLElement | string)[] {
  const own = shown?.logo;
  const logo = h('img', { src: own ?? '/page/icon.svg', alt: '', height: 22, class: own ? 'logo own' : 'logo' });
  if (!own) logo.width = 22;
  return [logo, h('span', {}, siteName())];
}

/** Returns elements for a text with links. */
export const linked = (parts: TextPart[]): (HTMLElement | string)[] =>
  parts.map(({ text, href }) => (href && isAddress(href) ? h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, text) : text));

/** Returns whether an address leads to the web or to mail; the server checks it as well. */
const isAddress = (href: string): boolean => /^(https?:\/\/|mailto:)./.test(href);

const plain = (parts: TextPart[]): string => parts.map(({ text }) => text).join('');

/** Returns the sources of the data as text, for files and pictures. */
export function attributionText(base: string): string {
  const own = plain(shown?.attribution ?? []);
  return own ? `${base} · ${own}` : base;
}

/** Returns the sources of the data as HTML for the control of the map, which takes nothing else: every text is escaped. */
export function attributionHtml(base: string): string {
  const escape = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const part = ({ text, href }: TextPart) => (href && isAddress(href) ? `<a href="${escape(href)}" target="_blank" rel="noopener noreferrer">${escape(text)}</a>` : escape(text));
  const own = (shown?.attribution ?? []).map(part).join('');
  return own ? `${escape(base)} · ${own}` : escape(base);
}

/** Returns the operator's notice for paper, where it is always shown; nothing without one. */
export const printedNotice = (): HTMLElement[] => (plain(shown?.notice ?? []) ? [h('p', { class: 'printed-notice' }, ...linked(shown?.notice ?? []))] : []);

/** Returns the operator's notice, which can be hidden until it changes; nothing without one. */
export function notice(): HTMLElement | null {
  const parts = shown?.notice ?? [];
  const text = plain(parts);
  if (!text || setting('notice') === text) return null;
  const close = h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': t('dismiss'), onclick: () => (setSetting('notice', text), element.remove()) }, icon(ICONS.close));
  const element: HTMLElement = h('aside', { class: 'operator-notice', 'aria-label': t('notice') }, h('p', {}, ...linked(parts)), close);
  return element;
}
