// What the page and the worker that holds the answer say to each other.

import type { Geometry } from 'geojson';
import type { Language } from '../link';
import type { ChartColumn, ChartData, ImageOfRow, LeftRows } from './columns';
import type { Profile } from './profile';
import type { Look } from './look';

/** West, south, east, north. */
export type Box = [number, number, number, number];

export interface Asked {
  language: Language;
  /** As it is sent. */
  query: string;
  headers: Record<string, string>;
  look: Look;
  /** Languages of labels, the wanted one first. */
  languages: string[];
  /** Whether there are triples, and so items that have coordinates and labels. */
  triples: boolean;
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
  /** Keys that have no column, as there are too many: files have them together. */
  others: string[];
  rows: number;
  /** Of each type. */
  types: Record<string, number>;
  geometries: { point: number; line: number; polygon: number };
  /** Elements of which nothing is on the map. */
  unplaced: number;
  box: Box | null;
  /** What the answer itself remarks. */
  remark: string;
  /** Whether rows link things with each other, so that there is a graph to be drawn. */
  linked: boolean;
  /** Whether rows are missing: the answer was stopped, or is larger than a page holds as rows. */
  part: boolean;
  /** Whose colours are on the map. */
  layers: Layer[];
  /** The scale of a heat map (`heat.ts`), if the answer is drawn as one. */
  heat: number[] | null;
  /** Rows that were not placed, though they name something that may have a place. */
  unasked: number;
}

/** Rows of one colour. */
export interface Layer {
  /** The column or tag that has the name as its value; empty if the name says all. */
  key: string;
  name: string;
  rows: number;
  colour: string;
}

export interface Details {
  index: number;
  title: string;
  /** Where more of it is. */
  href?: string;
  pairs: [string, Cell][];
  geometry: Geometry | null;
  box: Box | null;
  /** The nodes of the graph that it names. */
  nodes: string[];
}

/** Something that rows link. */
export interface Node {
  /** The address of its page here, else its IRI. */
  id: string;
  label: string;
  /** What it is called where it has no label. */
  name: string;
  /** The column in which it is first. */
  column: number;
  /** The first row that names it. */
  row: number;
  x: number;
  y: number;
}

/** A link, by the places of its nodes. */
export interface Link {
  from: number;
  to: number;
  label: string;
}

/** What rows link, laid out: x and y in pixels around the middle. */
export interface Graph {
  columns: string[];
  nodes: Node[];
  links: Link[];
  /** How many nodes and links there are beyond these. */
  more: { nodes: number; links: number };
}

/** Rows that have a date, by the first column that has some. */
export interface Dates {
  column: string;
  rows: { index: number; title: string; text: string; year: number }[];
  left: LeftRows;
}

/** The most frequent values of a column. */
export interface Facet {
  values: { text: string; rows: number }[];
  /** Number of other values, and of rows without one. */
  others: number;
  empty: number;
}

/** What a filter leaves of an answer. */
export interface Arranged {
  rows: number;
  geometries: Summary['geometries'];
  box: Box | null;
}

export type Saved = 'geojson' | 'gpx' | 'kml' | 'csv' | 'parquet' | 'json' | 'raw';

export type Order =
  | { do: 'run'; asked: Asked }
  | { do: 'stop' }
  | { do: 'rows'; from: number; to: number }
  | { do: 'arrange'; column: number; descending: boolean; filter: string }
  | { do: 'facets'; column: number }
  | { do: 'labels'; ids: string[]; languages: string[] }
  | { do: 'place'; index: number }
  | { do: 'beside'; index: number; by: -1 | 1 }
  | { do: 'details'; index: number }
  | { do: 'dates' }
  | { do: 'graph' }
  /** The columns as charts see them; the values of some; the images of rows. */
  | { do: 'columns' }
  | { do: 'chart'; columns: number[]; counted: boolean }
  | { do: 'images'; hidden: string[] }
  | { do: 'tile'; z: number; x: number; y: number }
  | { do: 'apart'; cluster: number }
  /** The values of a column or tag; the answer drawn anew. */
  | { do: 'profile'; column: string }
  | { do: 'restyle'; look: Look }
  | { do: 'raw'; from: number; to: number }
  | { do: 'save'; as: Saved; copyright: string };

/** What each order is answered with. */
export interface Replies {
  run: Summary;
  stop: null;
  rows: Row[];
  /** The rows that are left; the map has no others from then on. */
  arrange: Arranged;
  facets: Facet;
  /** Labels of items, as pairs. */
  labels: [string, string][];
  /** In which row it is now, or -1. */
  place: number;
  /** The row before or after it in the table, or -1. */
  beside: number;
  details: Details;
  dates: Dates | null;
  graph: Graph;
  columns: ChartColumn[];
  chart: ChartData;
  images: { images: ImageOfRow[]; more: number };
  /** In the format of Mapbox's vector tiles. */
  tile: ArrayBuffer;
  /** The zoom at which features that are drawn as one come apart. */
  apart: number;
  profile: Profile | null;
  /** The colours, and the scale of a heat map. */
  restyle: { layers: Layer[]; heat: number[] | null };
  /** `to` is where the next piece begins. */
  raw: { text: string; to: number; size: number };
  save: { url: string; name: string };
}

export type Message =
  | { id: number; ok: unknown }
  | { id: number; refused: { status: number; message: string } }
  | { progress: { bytes: number; ms: number } }
  /** What there is of an answer that still comes. */
  | { sofar: Summary };
