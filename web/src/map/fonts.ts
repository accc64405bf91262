// The letters on the map: the same files that the page's own text is set in, drawn by the browser. What they lack comes from
// the machine's fonts.

import type { FontFacesSpecification } from 'maplibre-gl';
import cyrillic from '@fontsource/ibm-plex-sans/files/ibm-plex-sans-cyrillic-500-normal.woff2?url';
import greek from '@fontsource/ibm-plex-sans/files/ibm-plex-sans-greek-500-normal.woff2?url';
import latin from '@fontsource/ibm-plex-sans/files/ibm-plex-sans-latin-500-normal.woff2?url';
import latinMore from '@fontsource/ibm-plex-sans/files/ibm-plex-sans-latin-ext-500-normal.woff2?url';
import latinItalic from '@fontsource/ibm-plex-sans/files/ibm-plex-sans-latin-500-italic.woff2?url';
import latinMoreItalic from '@fontsource/ibm-plex-sans/files/ibm-plex-sans-latin-ext-500-italic.woff2?url';
import vietnamese from '@fontsource/ibm-plex-sans/files/ibm-plex-sans-vietnamese-500-normal.woff2?url';

export const FONT = 'IBM Plex Sans';
/** Of names of water. Letters beyond Latin are upright. */
export const ITALIC = 'IBM Plex Sans Italic';

const LATIN = ['U+0000-00FF', 'U+0131', 'U+0152-0153', 'U+02BB-02BC', 'U+02C6', 'U+02DA', 'U+02DC', 'U+2000-206F', 'U+20AC', 'U+2122', 'U+2212'];
const LATIN_MORE = ['U+0100-02BA', 'U+02BD-02C5', 'U+02C7-02CC', 'U+02CE-02D7', 'U+02DD-02FF', 'U+1E00-1E9F', 'U+1EF2-1EFF'];

export const FACES: FontFacesSpecification = {
  [FONT]: [
    { url: cyrillic, 'unicode-range': ['U+0400-045F', 'U+0490-0491', 'U+04B0-04B1', 'U+2116'] },
    { url: greek, 'unicode-range': ['U+0370-0377', 'U+037A-037F', 'U+0384-038A', 'U+038C', 'U+038E-03A1', 'U+03A3-03FF'] },
    { url: vietnamese, 'unicode-range': ['U+0102-0103', 'U+0110-0111', 'U+0128-0129', 'U+0168-0169', 'U+01A0-01A1', 'U+01AF-01B0', 'U+1EA0-1EF9'] },
    { url: latinMore, 'unicode-range': LATIN_MORE },
    { url: latin, 'unicode-range': LATIN },
  ],
  [ITALIC]: [
    { url: latinMoreItalic, 'unicode-range': LATIN_MORE },
    { url: latinItalic, 'unicode-range': LATIN },
  ],
};
