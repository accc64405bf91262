// Where an element can be edited: on openstreetmap.org, and in JOSM by its remote control.

import { h } from '../dom';
import { t } from '../text/lookup';

/** Returns links to the editors for the page of an element (`/node/1`); null for anything else. */
export function editLinks(href: string | undefined): HTMLElement | null {
  const [, type, id] = /^\/(node|way|relation)\/(\d+)$/.exec(href ?? '') ?? [];
  if (!type || !id) return null;
  const outside = { target: '_blank', rel: 'noopener noreferrer' };
  return h(
    'p',
    { class: 'edit-links' },
    h('span', { class: 'muted' }, `${t('editIn')} `),
    h('a', { ...outside, href: `https://www.openstreetmap.org/edit?editor=id&${type}=${id}` }, 'iD'),
    ' · ',
    // https://josm.openstreetmap.de/wiki/Help/RemoteControlCommands#load_object
    h('a', { ...outside, href: `http://127.0.0.1:8111/load_object?new_layer=false&relation_members=true&objects=${type.slice(0, 1)}${id}`, title: t('josmRunsHereWithItsRemote') }, 'JOSM'),
    ' · ',
    h('a', { ...outside, href: `https://www.openstreetmap.org/${type}/${id}` }, 'openstreetmap.org'),
  );
}
