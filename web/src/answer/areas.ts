// Which closed ways are areas, by their tags: the table that osmtogeojson and others share (osm-polygon-features).

const ALL = ['building', 'landuse', 'amenity', 'leisure', 'area', 'boundary', 'place', 'shop', 'tourism', 'historic', 'public_transport', 'office', 'building:part', 'military', 'ruins', 'area:highway', 'craft', 'golf', 'indoor'];
const ONLY = new Map(Object.entries({
  highway: ['services', 'rest_area', 'escape', 'elevator'],
  waterway: ['riverbank', 'dock', 'boatyard', 'dam'],
  barrier: ['city_wall', 'ditch', 'hedge', 'retaining_wall', 'wall', 'spikes'],
  railway: ['station', 'turntable', 'roundhouse', 'platform'],
  power: ['plant', 'substation', 'generator', 'transformer'],
}));
const BUT = new Map(Object.entries({
  natural: ['coastline', 'cliff', 'ridge', 'arete', 'tree_row'],
  man_made: ['cutline', 'embankment', 'pipeline'],
  aeroway: ['taxiway'],
}));

export function isArea(tags: Record<string, string>): boolean {
  if (tags.area === 'no') return false;
  for (const [key, value] of Object.entries(tags)) {
    if (value === 'no') continue;
    if (ALL.includes(key)) return true;
    if (ONLY.get(key)?.includes(value)) return true;
    const but = BUT.get(key);
    if (but && !but.includes(value)) return true;
  }
  return false;
}
