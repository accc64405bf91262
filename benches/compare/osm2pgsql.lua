-- Elements as they are, for queries by tags, boxes and ids: one table for each type.
local nodes = osm2pgsql.define_table({ name = 'nodes', ids = { type = 'node', id_column = 'id', create_index = 'always' },
    columns = { { column = 'tags', type = 'jsonb' }, { column = 'geom', type = 'point', projection = 4326 } } })
local ways = osm2pgsql.define_table({ name = 'ways', ids = { type = 'way', id_column = 'id', create_index = 'always' },
    columns = { { column = 'tags', type = 'jsonb' }, { column = 'nodes', sql_type = 'int8[]' },
                { column = 'geom', type = 'linestring', projection = 4326 } } })
local relations = osm2pgsql.define_table({ name = 'relations',
    ids = { type = 'relation', id_column = 'id', create_index = 'always' },
    columns = { { column = 'tags', type = 'jsonb' }, { column = 'geom', type = 'geometry', projection = 4326 } } })

function osm2pgsql.process_node(object)
    nodes:insert({ tags = object.tags, geom = object:as_point() })
end

function osm2pgsql.process_way(object)
    ways:insert({ tags = object.tags, nodes = '{' .. table.concat(object.nodes, ',') .. '}', geom = object:as_linestring() })
end

function osm2pgsql.process_relation(object)
    relations:insert({ tags = object.tags, geom = object:as_geometrycollection() })
end
