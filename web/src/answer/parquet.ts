// The answer as GeoParquet. A file of its own, because what writes it is large and seldom asked for.

import type { Geometry } from 'geojson';
import { geojsonToWkb, parquetWriteBuffer } from 'hyparquet-writer';
import type { Cell } from './model';

/** The table as GeoParquet 1.1: a text column for each of its own, and the geometries as WKB. */
export function parquet(columns: string[], rows: Cell[][], geometries: (Geometry | null)[], copyright: string): ArrayBuffer {
  const taken = new Set(columns);
  let geometry = 'geometry';
  while (taken.has(geometry)) geometry = `_${geometry}`;
  const types = [...new Set(geometries.flatMap((each) => (each ? [each.type] : [])))].sort();
  const geo = { version: '1.1.0', primary_column: geometry, columns: { [geometry]: { encoding: 'WKB', geometry_types: types } } };
  return parquetWriteBuffer({
    columnData: [
      ...columns.map((name, i) => ({ name, data: rows.map((row) => row[i]?.text || null), type: 'STRING' as const, nullable: true })),
      { name: geometry, data: geometries.map((each) => each && geojsonToWkb(each as never)), type: 'BYTE_ARRAY' as const, nullable: true },
    ],
    kvMetadata: [
      { key: 'geo', value: JSON.stringify(geo) },
      { key: 'copyright', value: copyright },
    ],
  });
}
