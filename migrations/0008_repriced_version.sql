-- Which list prices the calls without a cost were last priced with: after an update they are priced again, once.

create table repriced_list_prices (
  is_only_row bool primary key default true check (is_only_row),
  version text
);
comment on table repriced_list_prices is 'One row: the list prices that calls without a total cost were last priced again for.';
comment on column repriced_list_prices.is_only_row is 'Makes a second row impossible.';
comment on column repriced_list_prices.version is 'Of what comes with the gateway, and of the imported catalogue in its place; null until the first start on an empty log, whose calls need nothing; empty when calls were there before.';
insert into repriced_list_prices (version) select case when exists (select from llm_requests) then '' end;
