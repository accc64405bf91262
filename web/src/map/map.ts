// The map: what is under the answer where the server has tiles, and the answer.

import 'maplibre-gl/dist/maplibre-gl.css';
import type { FeatureCollection, Geometry } from 'geojson';
import { AttributionControl, Map as MapLibre, NavigationControl, ScaleControl, addProtocol, setWorkerUrl, type GeoJSONSource, type StyleSpecification, type VectorSourceSpecification } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import type { Box, Summary } from '../answer/model';
import { copied } from '../pictures/canvas';
import { headers } from '../service';
import { attributionHtml } from '../identity/identity';
import { labelLanguage } from '../text/languages';
import { locale, t } from '../text/lookup';
import { world } from '../world/world';
import { basemap } from './basemap';
import { queryBox, type QueryBox } from './bounds';
import { FACES } from './fonts';
import { RATIO, draw, stretch } from './icons';
import { PICKED, overlay, type Display } from './overlay';
import { PALETTE, type Theme } from './palette';
import { tileJson } from './tilejson';

setWorkerUrl(workerUrl);

const NOTHING = { type: 'FeatureCollection' as const, features: [] };

interface Point {
  x: number;
  y: number;
}

export interface Wiring {
  /** An element of the answer was clicked. */
  picked(index: number | null): void;
  /** A tile of the answer, and the zoom at which what is drawn as one in it comes apart. */
  tile(z: number, x: number, y: number): Promise<ArrayBuffer>;
  apart(cluster: number): Promise<number>;
  /** The view changed; `resized` if only because the map has another size. */
  moved(resized: boolean): void;
}

export class AnswerMap {
  private readonly map: MapLibre;
  /** Counts answers, so that tiles of one are not taken for those of another. */
  private turn = 0;
  private answer = false;
  private display: Display = { heat: null, layers: null };
  /** Is told what is wrong with pasted layers. */
  refused: (problem: string) => void = () => undefined;
  private styled = false;
  private resizing = false;
  private selected: Geometry | null = null;
  private tiles: VectorSourceSpecification | null = null;
  private world: FeatureCollection | null = null;
  /** When the pointer may be looked under again. */
  private looks = 0;

  constructor(container: HTMLElement, private readonly wiring: Wiring, private theme: Theme, view: { center: [number, number]; zoom: number }, data: QueryBox | null = null) {
    addProtocol('answer', async ({ url }) => {
      const [z = 0, x = 0, y = 0] = url.split('/').slice(-3).map(Number);
      return { data: await wiring.tile(z, x, y) };
    });
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.map = new MapLibre({
      container,
      style: this.style(),
      ...view,
      attributionControl: false,
      fadeDuration: calm ? 0 : 150,
      trackResize: false,
      maxPitch: 0,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      transformRequest: (url) => (url.startsWith(location.origin) ? { url, headers: headers() } : { url }),
      locale: { 'Map.Title': t('mapOfTheAnswer'), 'NavigationControl.ZoomIn': t('zoomIn'), 'NavigationControl.ZoomOut': t('zoomOut'), 'AttributionControl.ToggleAttribution': t('toggleAttribution') },
    });
    this.map.touchZoomRotate.disableRotation();
    this.map.addControl(new AttributionControl({ compact: false, customAttribution: attributionHtml(t('mapAttribution')) }), 'bottom-right');
    this.map.addControl(new NavigationControl({ showCompass: false }), 'bottom-right');
    this.map.addControl(new ScaleControl({}), 'bottom-left');
    this.map.on('moveend', () => wiring.moved(this.resizing));
    this.map.on('click', (event) => void this.click(event.point));
    this.map.on('mousemove', ({ point }) => this.hover(point));
    this.map.on('error', ({ error }) => this.display.layers && this.refused(error.message));
    this.map.setMissingStyleImageResolver(async (name) => {
      const image = await draw(name, PALETTE[this.theme].halo);
      if (image && !this.map.hasImage(name)) this.map.addImage(name, image, { pixelRatio: RATIO, ...stretch(name) });
    });
    this.map.once('style.load', () => {
      this.styled = true;
      this.restyle();
    });
    void this.look();
    // Without it the map has what the tiles have.
    world(data, labelLanguage() === 'mul' ? locale() : labelLanguage()).then((found) => {
      this.world = found;
      this.restyle();
    }, () => undefined);
  }

  /** Whether the map is there to be measured. */
  get ready(): Promise<void> {
    return this.map.loaded() ? Promise.resolve() : new Promise((resolve) => void this.map.once('idle', () => resolve()));
  }

  /** South, west, north, east of the visible part, as queries take it. */
  get box(): QueryBox {
    const bounds = this.map.getBounds();
    return queryBox([bounds.getSouth(), bounds.getWest(), bounds.getNorth(), bounds.getEast()]);
  }

  /** Latitude and longitude at a pixel of the map, and the metres of a pixel there. */
  place(x: number, y: number): { lat: number; lon: number; metres: number } {
    const { lat, lng } = this.map.unproject([x, y]).wrap();
    return { lat, lon: lng, metres: (40_075_017 * Math.cos((lat * Math.PI) / 180)) / (512 * 2 ** this.map.getZoom()) };
  }

  /** Latitude, longitude, zoom. */
  get view(): [number, number, number] {
    const { lat, lng } = this.map.getCenter();
    return [lat, lng, this.map.getZoom()];
  }

  set view([lat, lon, zoom]: [number, number, number]) {
    this.map.jumpTo({ center: [lon, lat], zoom });
  }

  /** Draws an answer, and looks at it where it is elsewhere. */
  show(summary: Summary | null, look: boolean): void {
    const placed = summary ? summary.geometries.point + summary.geometries.line + summary.geometries.polygon : 0;
    this.turn += 1;
    this.answer = placed > 0;
    this.selected = null;
    this.restyle();
    if (summary?.box && look) this.fit(summary.box);
  }

  /** Draws the answer anew after its look changed. */
  redraw(display: Display): void {
    this.display = display;
    this.turn += 1;
    this.restyle();
  }

  /** Marks what is selected, and goes there where that is wanted: to a point no nearer than a zoom. */
  select(geometry: Geometry | null, box: Box | null, look: boolean, nearest = 16): void {
    this.selected = geometry;
    const source = this.map.getSource<GeoJSONSource>('selected');
    source?.setData(geometry ? { type: 'Feature', properties: {}, geometry } : NOTHING);
    if (box && look) this.reveal(box, nearest);
  }

  /** Makes a box fill the map. A single point is shown at `pointZoom`. */
  fit([west, south, east, north]: Box, pointZoom = 15): void {
    const maxZoom = west === east && south === north ? pointZoom : 17;
    this.map.fitBounds([west, south, east, north], { padding: this.padding(), maxZoom, animate: !calm(), duration: 500 });
  }

  /** South, west, north, east of the visible part, as the map counts longitudes. */
  get seen(): QueryBox {
    const bounds = this.map.getBounds();
    return [bounds.getSouth(), bounds.getWest(), bounds.getNorth(), bounds.getEast()];
  }

  /** Shows exactly what `seen` returned, at another size of the map. */
  showAgain([south, west, north, east]: QueryBox): void {
    this.map.fitBounds([west, south, east, north], { animate: false });
  }

  set dark(theme: Theme) {
    this.theme = theme;
    this.restyle();
  }

  /** Reads the map in a frame in which it is drawn. */
  drawn<T>(read: (map: MapLibre) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      void this.map.once('render', () => {
        try {
          resolve(read(this.map));
        } catch (problem) {
          reject(problem as Error);
        }
      });
      this.map.triggerRepaint();
    });
  }

  /** Draws the map at once, and returns a copy. */
  copy(): HTMLCanvasElement {
    this.map.redraw();
    return copied(this.map);
  }

  resize(): void {
    this.resizing = true;
    this.map.resize();
    this.resizing = false;
  }

  /** Goes there if it is not seen, or too small to be. */
  private reveal(box: Box, nearest: number): void {
    const seen = this.map.getBounds();
    const inside = seen.contains([box[0], box[1]]) && seen.contains([box[2], box[3]]);
    const share = (box[2] - box[0]) / (seen.getEast() - seen.getWest());
    if (inside && (share > 0.02 || this.map.getZoom() >= nearest - 2)) return;
    this.map.fitBounds([box[0], box[1], box[2], box[3]], { padding: this.padding(), maxZoom: Math.max(nearest, this.map.getZoom()), animate: !calm(), duration: 400 });
  }

  private padding(): number {
    const { clientWidth, clientHeight } = this.map.getContainer();
    return Math.min(60, clientWidth / 6, clientHeight / 6);
  }

  /** Tells by the pointer what can be clicked; now and then only, as looking takes time where there is much. */
  private hover(at: Point): void {
    const now = performance.now();
    if (now < this.looks || this.map.isMoving() || !this.answer) return;
    const found = this.map.queryRenderedFeatures([at.x, at.y], { layers: this.picked });
    this.map.getCanvas().style.cursor = found.length ? 'pointer' : '';
    const after = performance.now();
    this.looks = after + Math.max(60, 10 * (after - now));
  }

  /** Layers of the answer that can be clicked. */
  private get picked(): string[] {
    return [...PICKED, ...(this.display.layers ?? []).map(({ id }) => id)].filter((layer) => this.map.getLayer(layer));
  }

  private async click(at: Point): Promise<void> {
    const near: [[number, number], [number, number]] = [[at.x - 4, at.y - 4], [at.x + 4, at.y + 4]];
    const layers = this.picked;
    const found = layers.length ? this.map.queryRenderedFeatures(near, { layers }) : [];
    const [feature] = [...found].sort((a, b) => PICKED.indexOf(a.layer.id) - PICKED.indexOf(b.layer.id));
    if (!feature) return this.wiring.picked(null);
    const cluster = feature.properties.cluster_id as number | undefined;
    if (cluster !== undefined && feature.geometry.type === 'Point') {
      const zoom = await this.wiring.apart(cluster);
      const [lon = 0, lat = 0] = feature.geometry.coordinates;
      this.map.easeTo({ center: [lon, lat], zoom: zoom + 0.3, animate: !calm() });
      return;
    }
    this.wiring.picked(feature.properties.i as number);
  }

  /** Draws the server's tiles below the answer, if it has some. */
  private async look(): Promise<void> {
    const about = await tileJson();
    const [address] = about?.tiles ?? [];
    if (!address) return;
    // A proxy may have the server under another name than it knows itself by.
    this.tiles = { type: 'vector', tiles: [address.replace(/^(https?:)?\/\/[^/]+/, '').replace(/^/, location.origin)], maxzoom: about?.maxzoom ?? 14 };
    this.restyle();
  }

  private restyle(): void {
    // A style that is not loaded yet cannot be changed, only replaced.
    if (!this.styled) return;
    this.map.setStyle(this.style(), { diff: true });
  }

  private style(): StyleSpecification {
    const colours = PALETTE[this.theme];
    const base = basemap(colours, this.answer).filter((layer) => !('source' in layer) || (layer.source === 'tiles' ? this.tiles : this.world));
    return {
      version: 8,
      'font-faces': FACES,
      sources: {
        ...(this.tiles && { tiles: this.tiles }),
        ...(this.world && { world: { type: 'geojson', data: this.world, maxzoom: 10, tolerance: 0.2 } }),
        ...(this.answer && { answer: { type: 'vector', tiles: [`answer://${this.turn}/{z}/{x}/{y}`], maxzoom: 16 } }),
        selected: { type: 'geojson', data: this.selected ? { type: 'Feature', properties: {}, geometry: this.selected } : NOTHING },
      },
      layers: [...base, ...overlay(colours, this.display).filter((layer) => this.answer || ('source' in layer && layer.source === 'selected'))],
    } as StyleSpecification;
  }
}

const calm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;
