// The symbols of small things on the map: drawn by the browser from Maki's outlines, in the colours of the map, when the
// map first asks for one.

import type { ExpressionSpecification } from 'maplibre-gl';
import type { Palette } from './palette';

/** What is drawn in one colour. */
type Group = 'food' | 'shop' | 'stay' | 'culture' | 'health' | 'service' | 'leisure' | 'transport';

/** By symbol: its colour, then for each attribute of the layer `pois` the values that it stands for. */
const SYMBOLS: [icon: string, group: Group, values: Record<string, string[]>][] = [
  ['restaurant', 'food', { amenity: ['restaurant', 'food_court'] }],
  ['fast-food', 'food', { amenity: ['fast_food'] }],
  ['cafe', 'food', { amenity: ['cafe'] }],
  ['beer', 'food', { amenity: ['pub', 'biergarten'] }],
  ['bar', 'food', { amenity: ['bar'] }],
  ['grocery', 'shop', { shop: ['supermarket', 'greengrocer'], amenity: ['marketplace'] }],
  ['bakery', 'shop', { shop: ['bakery'] }],
  ['convenience', 'shop', { shop: ['convenience', 'convinience', 'kiosk', 'general', 'newsagent'] }],
  ['clothing-store', 'shop', { shop: ['clothes'] }],
  ['shoe', 'shop', { shop: ['shoes'] }],
  ['florist', 'shop', { shop: ['florist'] }],
  ['alcohol-shop', 'shop', { shop: ['alcohol', 'beverages'] }],
  ['optician', 'shop', { shop: ['optician', 'optican'] }],
  ['jewelry-store', 'shop', { shop: ['jewelry'] }],
  ['gift', 'shop', { shop: ['gift', 'toys'] }],
  ['mobile-phone', 'shop', { shop: ['mobile_phone'] }],
  ['hardware', 'shop', { shop: ['doityourself', 'hardware'] }],
  ['furniture', 'shop', { shop: ['furniture'] }],
  ['garden-centre', 'shop', { shop: ['garden_centre'] }],
  ['hairdresser', 'shop', { shop: ['hairdresser', 'beauty'] }],
  ['laundry', 'shop', { shop: ['laundry', 'dry_cleaning'] }],
  ['bicycle', 'shop', { shop: ['bicycle'] }],
  ['car', 'shop', { shop: ['car'] }],
  ['suitcase', 'shop', { shop: ['travel_agency'] }],
  ['shop', 'shop', { shop: ['mall', 'department_store', 'chemist', 'books', 'butcher', 'sports', 'stationery', 'outdoor', 'video', 'computer'], amenity: ['vending_machine'] }],
  ['lodging', 'stay', { tourism: ['hotel', 'motel', 'bed_and_breakfast', 'guest_house', 'hostel', 'chalet', 'alpine_hut'] }],
  ['campsite', 'stay', { tourism: ['camp_site', 'caravan_site'] }],
  ['museum', 'culture', { tourism: ['museum'] }],
  ['information', 'culture', { tourism: ['information'] }],
  ['viewpoint', 'culture', { tourism: ['viewpoint'] }],
  ['zoo', 'culture', { tourism: ['zoo'] }],
  ['amusement-park', 'culture', { tourism: ['theme_park'] }],
  ['art-gallery', 'culture', { amenity: ['arts_centre'], historic: ['artwork'], tourism: ['artwork', 'gallery'] }],
  ['monument', 'culture', { historic: ['monument', 'memorial'] }],
  ['castle', 'culture', { historic: ['castle', 'fort'] }],
  ['historic', 'culture', { historic: ['ruins', 'archaeological_site', 'battlefield'] }],
  ['religious-christian', 'culture', { historic: ['wayside_cross', 'wayside_shrine'] }],
  ['place-of-worship', 'culture', { amenity: ['place_of_worship'] }],
  ['theatre', 'culture', { amenity: ['theatre'] }],
  ['cinema', 'culture', { amenity: ['cinema'] }],
  ['nightclub', 'culture', { amenity: ['nightclub'] }],
  ['lighthouse', 'culture', { man_made: ['lighthouse'] }],
  ['windmill', 'culture', { man_made: ['windmill'] }],
  ['watermill', 'culture', { man_made: ['watermill'] }],
  ['observation-tower', 'culture', { man_made: ['tower'] }],
  ['pharmacy', 'health', { amenity: ['pharmacy'] }],
  ['hospital', 'health', { amenity: ['hospital', 'clinic'] }],
  ['doctor', 'health', { amenity: ['doctors'] }],
  ['dentist', 'health', { amenity: ['dentist'] }],
  ['veterinary', 'health', { amenity: ['veterinary'] }],
  ['defibrillator', 'health', { emergency: ['defibrillator'] }],
  ['emergency-phone', 'health', { emergency: ['phone'], highway: ['emergency_access_point'] }],
  ['police', 'service', { amenity: ['police'] }],
  ['fire-station', 'service', { amenity: ['fire_station'] }],
  ['post', 'service', { amenity: ['post_box', 'post_office'] }],
  ['telephone', 'service', { amenity: ['telephone'] }],
  ['library', 'service', { amenity: ['library'] }],
  ['town-hall', 'service', { amenity: ['townhall', 'courthouse', 'public_building', 'community_centre'] }],
  ['prison', 'service', { amenity: ['prison'] }],
  ['embassy', 'service', { amenity: ['embassy'], office: ['diplomatic'] }],
  ['college', 'service', { amenity: ['university', 'college'] }],
  ['school', 'service', { amenity: ['school'] }],
  ['bank', 'service', { amenity: ['bank', 'atm'] }],
  ['toilet', 'service', { amenity: ['toilets'] }],
  ['drinking-water', 'service', { amenity: ['drinking_water'], man_made: ['water_well'] }],
  ['recycling', 'service', { amenity: ['recycling'] }],
  ['waste-basket', 'service', { amenity: ['waste_basket'] }],
  ['shelter', 'service', { amenity: ['shelter'] }],
  ['cemetery', 'leisure', { amenity: ['grave_yard'] }],
  ['water', 'leisure', { amenity: ['fountain'] }],
  ['picnic-site', 'leisure', { tourism: ['picnic_site'], amenity: ['bench'] }],
  ['playground', 'leisure', { amenity: ['playground'], leisure: ['playground'] }],
  ['dog-park', 'leisure', { amenity: ['dog_park'], leisure: ['dog_park'] }],
  ['pitch', 'leisure', { leisure: ['sports_centre', 'pitch'] }],
  ['swimming', 'leisure', { leisure: ['swimming_pool', 'water_park'] }],
  ['golf', 'leisure', { leisure: ['golf_course'] }],
  ['stadium', 'leisure', { leisure: ['stadium'] }],
  ['skiing', 'leisure', { leisure: ['ice_rink'] }],
  ['car-rental', 'transport', { amenity: ['car_rental', 'car_sharing'] }],
  ['car-repair', 'transport', { amenity: ['car_wash'] }],
  ['bicycle-share', 'transport', { amenity: ['bicycle_rental'] }],
];

/** Likewise of the layer `public_transport`, by its `kind`. */
const STOPS: Record<string, string[]> = {
  rail: ['station', 'halt'],
  'rail-light': ['tram_stop'],
  bus: ['bus_stop', 'bus_station'],
  ferry: ['ferry_terminal'],
  airport: ['aerodrome'],
  heliport: ['helipad'],
  aerialway: ['aerialway_station'],
};

const COLOURS = {
  food: 'poiFood',
  shop: 'poiShop',
  stay: 'poiStay',
  culture: 'poiCulture',
  health: 'poiHealth',
  service: 'poiService',
  leisure: 'poiLeisure',
  transport: 'poiTransport',
} as const satisfies Record<Group, keyof Palette>;

/** What all others have. */
const DOT = 'dot';

/** An image is called by its outline and its colour, so that another theme has other images. */
const image = (outline: string, colour: string): string => `${outline} ${colour}`;

type Cases = [values: string[], outcome: string][];
const match = (attribute: string, cases: Cases, otherwise: ExpressionSpecification | string): ExpressionSpecification =>
  ['match', ['get', attribute], ...cases.flat(), otherwise] as unknown as ExpressionSpecification;

function pois(outcome: (icon: string, group: Group) => string, otherwise: string): ExpressionSpecification {
  const attributes = [...new Set(SYMBOLS.flatMap(([, , values]) => Object.keys(values)))];
  const cases = (attribute: string): Cases => SYMBOLS.flatMap(([icon, group, { [attribute]: values }]) => (values ? [[values, outcome(icon, group)]] : []));
  return attributes.reduceRight<ExpressionSpecification | string>((rest, attribute) => match(attribute, cases(attribute), rest), otherwise) as ExpressionSpecification;
}

/** The images of the layer `pois`, and the colours of its names. */
export const poiImage = (c: Palette) => pois((icon, group) => image(icon, c[COLOURS[group]]), image(DOT, c.faint));
export const poiColour = (c: Palette) => pois((_, group) => c[COLOURS[group]], c.faint);

/** The images of the layer `public_transport`. */
export const stopImage = (c: Palette) => match('kind', Object.entries(STOPS).map(([icon, kinds]) => [kinds, image(icon, c.poiTransport)]), image(DOT, c.poiTransport));

/** A street's direction, a triangle for a peak, a plate behind a street's number. */
const ARROW = 'arrow';
const PLATE = 'plate';

/** The image along one-way streets. */
export const arrowImage = (c: Palette): string => image(ARROW, c.faint);

/** The images of the layer `landform_labels`. */
export const landformImage = (c: Palette) => match('kind', [[['peak'], image('triangle', c.landform)], [['volcano'], image('volcano', c.landform)]], image(DOT, c.landform));

/** The image behind the numbers of streets. */
export const shieldImage = (c: Palette): string => image(PLATE, `${c.shield},${c.majorEdge}`);

/** Pixels of an image for each of the map's. */
export const RATIO = 2;

/** Which parts of an image are stretched around a text, in pixels of the image. */
export function stretch(name: string): { stretchX?: [number, number][]; stretchY?: [number, number][]; content?: [number, number, number, number] } {
  if (!name.startsWith(`${PLATE} `)) return {};
  return { stretchX: [[8, 24]], stretchY: [[8, 24]], content: [4, 4, 28, 28] };
}

/** A rounded rectangle. */
function plate(colours: string): ImageData | null {
  const [fill = '', edge = ''] = colours.split(',');
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 32;
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.beginPath();
  context.roundRect(1, 1, 30, 30, 6);
  context.fillStyle = fill;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = edge;
  context.stroke();
  return context.getImageData(0, 0, 32, 32);
}

/** An arrow to the right, in the square of `SIDE`. */
const ARROW_OUTLINE = 'M1 6.9h9V4.6l4 2.9-4 2.9V8.1H1z';

/** Draws the image of this name, with a halo that sets it off from what is below. */
export async function draw(name: string, halo: string): Promise<ImageData | null> {
  const [icon = '', colour = ''] = name.split(' ');
  if (icon === PLATE) return plate(colour);
  const { SIDE, outline } = await import('./outlines');
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = (SIDE + 2) * RATIO;
  const context = canvas.getContext('2d');
  const shape = new Path2D();
  const d = icon === ARROW ? ARROW_OUTLINE : outline(icon);
  if (d) shape.addPath(new Path2D(d));
  // A style may name what is no symbol.
  else shape.arc(SIDE / 2, SIDE / 2, icon === DOT ? 1.8 : 4, 0, 2 * Math.PI);
  if (!context) return null;
  context.scale(RATIO, RATIO);
  context.translate(1, 1);
  context.lineWidth = 2;
  context.lineJoin = 'round';
  context.strokeStyle = halo;
  context.stroke(shape);
  context.fillStyle = colour;
  context.fill(shape);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}
