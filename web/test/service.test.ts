import { expect, test } from 'vitest';
import { sourceName } from '../src/service';

test.each([
  ['malta-2024.osm.pbf', 'malta-2024'],
  ['subset-full-entities.nt.gz', 'subset-full-entities'],
  ['/data/latest-all.json.bz2', 'latest-all'],
  ['C:\\data\\Malta.OSM.BZ2', 'Malta'],
  ['history.osh.pbf', 'history'],
  ['my.osm.extract.pbf', 'my.osm.extract'],
  ['terms.ttl', 'terms'],
  ['no-ending', 'no-ending'],
  ['.osm', '.osm'],
  ['', ''],
])('the name of the source %j', (name, short) => expect(sourceName(name)).toBe(short));
