// What the page and the worker that holds the answer say to each other.

import type { Geometry } from 'geojson';
import type { Language } from '../link';

/** West, south, east, north. */
export type Box = [number, number, number, number];

export interface Asked {
  language: Language;
  /** As it is sent. */
  query: string;
  headers: Record<string, string>;
  /** MapCSS. */
  style: string;
}

export interface Cell {
  text: string;
  /** Where it leads: an element's or entity's page, or an address of the web. */
  href?: string;
  /** Its language or datatype. */
  note?: string;
  numeric?: boolean;
}

export interface Row {
  /** Its place in the answer, by which it is selected. */
  index: number;
  cells: Cell[];
  /** Whether it is on the map. */
  placed: boolean;
}

/** What an answer is, without its rows. */
export interface Summary {
  kind: 'elements' | 'solutions' | 'table' | 'text';
  status: number;
  contentType: string;
  digest: string;
  request: string;
  bytes: number;
  /** Milliseconds to the first byte, to the last, and of reading it here. */
  first: number;
  total: number;
  reading: number;
  columns: string[];
  rows: number;
  /** Of each type. */
  types: Record<string, number>;
  geometries: { point: number; line: number; polygon: number };
  /** Elements of which nothing is on the map. */
  unplaced: number;
  box: Box | null;
  /** What the answer itself remarks. */
  remark: string;
}

export interface Details {
  index: number;
  title: string;
  /** Where more of it is. */
  href?: string;
  pairs: [string, Cell][];
  geometry: Geometry | null;
  box: Box | null;
}

/** Rows that have a date, by the first column that has some. */
export interface Dates {
  column: string;
  rows: { index: number; title: string; text: string; year: number }[];
}

export type Saved = 'geojson' | 'gpx' | 'kml' | 'csv' | 'parquet' | 'json' | 'raw';

export type Order =
  | { do: 'run'; asked: Asked }
  | { do: 'stop' }
  | { do: 'rows'; from: number; to: number }
  | { do: 'arrange'; column: number; descending: boolean; filter: string }
  | { do: 'place'; index: number }
  | { do: 'details'; index: number }
  | { do: 'dates' }
  | { do: 'tile'; z: number; x: number; y: number }
  | { do: 'apart'; cluster: number }
  | { do: 'raw'; from: number; to: number }
  | { do: 'save'; as: Saved };

/** What each order is answered with. */
export interface Replies {
  run: Summary;
  stop: null;
  rows: Row[];
  /** How many rows are left. */
  arrange: number;
  /** In which row it is now, or -1. */
  place: number;
  details: Details;
  dates: Dates | null;
  /** In the format of Mapbox's vector tiles. */
  tile: ArrayBuffer;
  /** The zoom at which features that are drawn as one come apart. */
  apart: number;
  raw: { text: string; size: number };
  save: { url: string; name: string };
}

export type Message =
  | { id: number; ok: unknown }
  | { id: number; refused: { status: number; message: string } }
  | { progress: { bytes: number; ms: number } };
