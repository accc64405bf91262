// The texts of pictures and of the printed page.

import { attributionText } from '../identity/identity';
import { t } from '../text/lookup';

export const TEXTS = {
  png: 'PNG',
  svg: 'SVG',
  get savePng() { return t('saveAsPng'); },
  get saveSvg() { return t('saveAsSvg'); },
  get map() { return t('mapAsAPicture'); },
  get mapPng() { return t('mapAsPng'); },
  get mapPngNote() { return t('mapAsPngNote'); },
  get mapSvg() { return t('mapAsSvg'); },
  get mapSvgNote() { return t('mapAsSvgNote'); },
  get print() { return t('print'); },
  get printNote() { return t('printNote'); },
  get failed() { return t('thePictureCouldNotBeMade'); },
  /** The sources of the data, with those of the operator. */
  get attribution() { return attributionText(t('mapAttribution')); },
  svgLeavesOut: (n: number, most: number) => t('svgLeavesOut', { n, most }),
  snapshot: (digest: string) => t('snapshotDigest', { digest }),
  first: (number: string, all: string) => t('firstOfAllRows', { number, all }),
  get query() { return t('query'); },
  get answer() { return t('answer'); },
};
