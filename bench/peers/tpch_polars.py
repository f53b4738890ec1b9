"""tpch_polars.py: the 22 queries of TPC-H as lazy frames of Polars. Comes in: scan, which opens a table by its name, and the scale factor.
Goes out: a lazy frame with the columns of the standard. What always holds: nothing is computed here."""
from datetime import date

from polars import col, len as rows, when

VOLUME = col("l_extendedprice") * (1 - col("l_discount"))


def q01(scan, sf):
    return (scan("lineitem").filter(col("l_shipdate") <= date(1998, 9, 2)).group_by("l_returnflag", "l_linestatus")
            .agg(col("l_quantity").sum().alias("sum_qty"), col("l_extendedprice").sum().alias("sum_base_price"),
                 VOLUME.sum().alias("sum_disc_price"), (VOLUME * (1 + col("l_tax"))).sum().alias("sum_charge"),
                 col("l_quantity").mean().alias("avg_qty"), col("l_extendedprice").mean().alias("avg_price"),
                 col("l_discount").mean().alias("avg_disc"), rows().alias("count_order"))
            .sort("l_returnflag", "l_linestatus"))


def q02(scan, sf):
    offers = (scan("part").filter(col("p_size") == 15, col("p_type").cast(str).str.ends_with("BRASS"))
              .join(scan("partsupp"), left_on="p_partkey", right_on="ps_partkey")
              .join(scan("supplier"), left_on="ps_suppkey", right_on="s_suppkey")
              .join(scan("nation"), left_on="s_nationkey", right_on="n_nationkey")
              .join(scan("region").filter(col("r_name") == "EUROPE"), left_on="n_regionkey", right_on="r_regionkey"))
    least = offers.group_by("p_partkey").agg(col("ps_supplycost").min())
    return (offers.join(least, on=["p_partkey", "ps_supplycost"])
            .select("s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone", "s_comment")
            .sort("s_acctbal", "n_name", "s_name", "p_partkey", descending=[True, False, False, False]).head(100))


def q03(scan, sf):
    return (scan("customer").filter(col("c_mktsegment") == "BUILDING").join(scan("orders"), left_on="c_custkey", right_on="o_custkey")
            .join(scan("lineitem"), left_on="o_orderkey", right_on="l_orderkey")
            .filter(col("o_orderdate") < date(1995, 3, 15), col("l_shipdate") > date(1995, 3, 15))
            .group_by("o_orderkey", "o_orderdate", "o_shippriority").agg(VOLUME.sum().alias("revenue"))
            .select(col("o_orderkey").alias("l_orderkey"), "revenue", "o_orderdate", "o_shippriority")
            .sort("revenue", "o_orderdate", descending=[True, False]).head(10))


def q04(scan, sf):
    late = scan("lineitem").filter(col("l_commitdate") < col("l_receiptdate"))
    return (scan("orders").filter(col("o_orderdate") >= date(1993, 7, 1), col("o_orderdate") < date(1993, 10, 1))
            .join(late, left_on="o_orderkey", right_on="l_orderkey", how="semi")
            .group_by("o_orderpriority").agg(rows().alias("order_count")).sort(col("o_orderpriority").cast(str)))


def q05(scan, sf):
    return (scan("region").filter(col("r_name") == "ASIA").join(scan("nation"), left_on="r_regionkey", right_on="n_regionkey")
            .join(scan("customer"), left_on="n_nationkey", right_on="c_nationkey")
            .join(scan("orders").filter(col("o_orderdate") >= date(1994, 1, 1), col("o_orderdate") < date(1995, 1, 1)),
                  left_on="c_custkey", right_on="o_custkey")
            .join(scan("lineitem"), left_on="o_orderkey", right_on="l_orderkey")
            .join(scan("supplier"), left_on=["l_suppkey", "n_nationkey"], right_on=["s_suppkey", "s_nationkey"])
            .group_by("n_name").agg(VOLUME.sum().alias("revenue")).sort("revenue", descending=True))


def q06(scan, sf):
    return (scan("lineitem").filter(col("l_shipdate") >= date(1994, 1, 1), col("l_shipdate") < date(1995, 1, 1),
                                    col("l_discount") >= 0.05, col("l_discount") <= 0.07, col("l_quantity") < 24)
            .select((col("l_extendedprice") * col("l_discount")).sum().alias("revenue")))


def q07(scan, sf):
    two = scan("nation").filter(col("n_name").is_in(["FRANCE", "GERMANY"])).select("n_nationkey", col("n_name").cast(str))
    customers = scan("customer").join(two.rename({"n_name": "cust_nation"}), left_on="c_nationkey", right_on="n_nationkey")
    suppliers = scan("supplier").join(two.rename({"n_name": "supp_nation"}), left_on="s_nationkey", right_on="n_nationkey")
    return (scan("lineitem").filter(col("l_shipdate") >= date(1995, 1, 1), col("l_shipdate") <= date(1996, 12, 31))
            .join(suppliers, left_on="l_suppkey", right_on="s_suppkey").join(scan("orders"), left_on="l_orderkey", right_on="o_orderkey")
            .join(customers, left_on="o_custkey", right_on="c_custkey").filter(col("supp_nation") != col("cust_nation"))
            .group_by("supp_nation", "cust_nation", col("l_shipdate").dt.year().alias("l_year")).agg(VOLUME.sum().alias("revenue"))
            .sort("supp_nation", "cust_nation", "l_year"))


def q08(scan, sf):
    american = (scan("region").filter(col("r_name") == "AMERICA").join(scan("nation"), left_on="r_regionkey", right_on="n_regionkey")
                .join(scan("customer"), left_on="n_nationkey", right_on="c_nationkey").select("c_custkey"))
    return (scan("part").filter(col("p_type") == "ECONOMY ANODIZED STEEL").join(scan("lineitem"), left_on="p_partkey", right_on="l_partkey")
            .join(scan("orders").filter(col("o_orderdate") >= date(1995, 1, 1), col("o_orderdate") <= date(1996, 12, 31)),
                  left_on="l_orderkey", right_on="o_orderkey")
            .join(american, left_on="o_custkey", right_on="c_custkey", how="semi")
            .join(scan("supplier"), left_on="l_suppkey", right_on="s_suppkey").join(scan("nation"), left_on="s_nationkey", right_on="n_nationkey")
            .group_by(col("o_orderdate").dt.year().alias("o_year"))
            .agg((when(col("n_name") == "BRAZIL").then(VOLUME.cast(float)).otherwise(0.0).sum() / VOLUME.cast(float).sum()).alias("mkt_share"))
            .sort("o_year"))


def q09(scan, sf):
    return (scan("part").filter(col("p_name").str.contains("green", literal=True))
            .join(scan("lineitem"), left_on="p_partkey", right_on="l_partkey").join(scan("supplier"), left_on="l_suppkey", right_on="s_suppkey")
            .join(scan("partsupp"), left_on=["p_partkey", "l_suppkey"], right_on=["ps_partkey", "ps_suppkey"])
            .join(scan("orders"), left_on="l_orderkey", right_on="o_orderkey").join(scan("nation"), left_on="s_nationkey", right_on="n_nationkey")
            .group_by(col("n_name").cast(str).alias("nation"), col("o_orderdate").dt.year().alias("o_year"))
            .agg((VOLUME - col("ps_supplycost") * col("l_quantity")).sum().alias("sum_profit"))
            .sort("nation", "o_year", descending=[False, True]))


def q10(scan, sf):
    return (scan("customer").join(scan("orders"), left_on="c_custkey", right_on="o_custkey")
            .join(scan("lineitem"), left_on="o_orderkey", right_on="l_orderkey").join(scan("nation"), left_on="c_nationkey", right_on="n_nationkey")
            .filter(col("o_orderdate") >= date(1993, 10, 1), col("o_orderdate") < date(1994, 1, 1), col("l_returnflag") == "R")
            .group_by("c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment").agg(VOLUME.sum().alias("revenue"))
            .select("c_custkey", "c_name", "revenue", "c_acctbal", "n_name", "c_address", "c_phone", "c_comment")
            .sort("revenue", descending=True).head(20))


def q11(scan, sf):
    german = (scan("nation").filter(col("n_name") == "GERMANY").join(scan("supplier"), left_on="n_nationkey", right_on="s_nationkey")
              .join(scan("partsupp"), left_on="s_suppkey", right_on="ps_suppkey")
              .select("ps_partkey", value=col("ps_supplycost") * col("ps_availqty")))
    return (german.group_by("ps_partkey").agg(col("value").sum()).with_columns(value=col("value").cast(float))
            .filter(col("value") > col("value").sum() * 0.0001 / sf).sort("value", descending=True))


def q12(scan, sf):
    high = col("o_orderpriority").cast(str).is_in(["1-URGENT", "2-HIGH"])
    return (scan("lineitem").filter(col("l_shipmode").cast(str).is_in(["MAIL", "SHIP"]), col("l_commitdate") < col("l_receiptdate"),
                                    col("l_shipdate") < col("l_commitdate"), col("l_receiptdate") >= date(1994, 1, 1),
                                    col("l_receiptdate") < date(1995, 1, 1))
            .join(scan("orders"), left_on="l_orderkey", right_on="o_orderkey").group_by("l_shipmode")
            .agg(high.sum().alias("high_line_count"), (~high).sum().alias("low_line_count")).sort(col("l_shipmode").cast(str)))


def q13(scan, sf):
    wanted = scan("orders").filter(~col("o_comment").str.contains("special.*requests"))
    return (scan("customer").join(wanted, left_on="c_custkey", right_on="o_custkey", how="left").group_by("c_custkey")
            .agg(col("o_orderkey").count().alias("c_count")).group_by("c_count").agg(rows().alias("custdist"))
            .sort("custdist", "c_count", descending=True))


def q14(scan, sf):
    promo = when(col("p_type").cast(str).str.starts_with("PROMO")).then(VOLUME.cast(float)).otherwise(0.0)
    return (scan("lineitem").filter(col("l_shipdate") >= date(1995, 9, 1), col("l_shipdate") < date(1995, 10, 1))
            .join(scan("part"), left_on="l_partkey", right_on="p_partkey")
            .select((100 * promo.sum() / VOLUME.cast(float).sum()).alias("promo_revenue")))


def q15(scan, sf):
    revenue = (scan("lineitem").filter(col("l_shipdate") >= date(1996, 1, 1), col("l_shipdate") < date(1996, 4, 1))
               .group_by("l_suppkey").agg(VOLUME.sum().alias("total_revenue")).filter(col("total_revenue") == col("total_revenue").max()))
    return (scan("supplier").join(revenue, left_on="s_suppkey", right_on="l_suppkey")
            .select("s_suppkey", "s_name", "s_address", "s_phone", "total_revenue").sort("s_suppkey"))


def q16(scan, sf):
    blamed = scan("supplier").filter(col("s_comment").str.contains("Customer.*Complaints"))
    return (scan("part").filter(col("p_brand") != "Brand#45", ~col("p_type").cast(str).str.starts_with("MEDIUM POLISHED"),
                                col("p_size").is_in([49, 14, 23, 45, 19, 3, 36, 9]))
            .join(scan("partsupp"), left_on="p_partkey", right_on="ps_partkey")
            .join(blamed, left_on="ps_suppkey", right_on="s_suppkey", how="anti")
            .group_by(col("p_brand").cast(str), col("p_type").cast(str), "p_size").agg(col("ps_suppkey").n_unique().alias("supplier_cnt"))
            .sort("supplier_cnt", "p_brand", "p_type", "p_size", descending=[True, False, False, False]))


def q17(scan, sf):
    lines = scan("part").filter(col("p_brand") == "Brand#23", col("p_container") == "MED BOX").join(
        scan("lineitem"), left_on="p_partkey", right_on="l_partkey")
    few = lines.group_by("p_partkey").agg((0.2 * col("l_quantity").mean()).alias("few"))
    return (lines.join(few, on="p_partkey").filter(col("l_quantity") < col("few"))
            .select((col("l_extendedprice").sum().cast(float) / 7).alias("avg_yearly")))


def q18(scan, sf):
    large = scan("lineitem").group_by("l_orderkey").agg(col("l_quantity").sum().alias("sum_qty")).filter(col("sum_qty") > 300)
    return (scan("orders").join(large, left_on="o_orderkey", right_on="l_orderkey").join(scan("customer"), left_on="o_custkey", right_on="c_custkey")
            .select("c_name", col("o_custkey").alias("c_custkey"), "o_orderkey", "o_orderdate", "o_totalprice", "sum_qty")
            .sort("o_totalprice", "o_orderdate", "o_orderkey", descending=[True, False, False]).head(100))


def q19(scan, sf):
    def kind(brand, containers, least, size):
        return ((col("p_brand") == brand) & col("p_container").cast(str).is_in([f"{containers} {c}" for c in kinds[containers]])
                & col("l_quantity").is_between(least, least + 10) & col("p_size").is_between(1, size))
    kinds = {"SM": ["CASE", "BOX", "PACK", "PKG"], "MED": ["BAG", "BOX", "PKG", "PACK"], "LG": ["CASE", "BOX", "PACK", "PKG"]}
    return (scan("part").join(scan("lineitem"), left_on="p_partkey", right_on="l_partkey")
            .filter(col("l_shipmode").cast(str).is_in(["AIR", "AIR REG"]), col("l_shipinstruct") == "DELIVER IN PERSON",
                    kind("Brand#12", "SM", 1, 5) | kind("Brand#23", "MED", 10, 10) | kind("Brand#34", "LG", 20, 15))
            .select(VOLUME.sum().alias("revenue")))


def q20(scan, sf):
    shipped = (scan("lineitem").filter(col("l_shipdate") >= date(1994, 1, 1), col("l_shipdate") < date(1995, 1, 1))
               .group_by("l_partkey", "l_suppkey").agg((0.5 * col("l_quantity").sum().cast(float)).alias("half")))
    left = (scan("part").filter(col("p_name").str.starts_with("forest")).select("p_partkey")
            .join(scan("partsupp"), left_on="p_partkey", right_on="ps_partkey")
            .join(shipped, left_on=["p_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"])
            .filter(col("ps_availqty") > col("half")).select(col("ps_suppkey").unique()))
    return (scan("supplier").join(scan("nation").filter(col("n_name") == "CANADA"), left_on="s_nationkey", right_on="n_nationkey")
            .join(left, left_on="s_suppkey", right_on="ps_suppkey", how="semi").select("s_name", "s_address").sort("s_name"))


def q21(scan, sf):
    late = scan("lineitem").filter(col("l_receiptdate") > col("l_commitdate"))
    parties = scan("lineitem").group_by("l_orderkey").agg(col("l_suppkey").n_unique().alias("all")).filter(col("all") > 1)
    lates = late.group_by("l_orderkey").agg(col("l_suppkey").n_unique().alias("late")).filter(col("late") == 1)
    return (late.join(parties, on="l_orderkey", how="semi").join(lates, on="l_orderkey", how="semi")
            .join(scan("supplier"), left_on="l_suppkey", right_on="s_suppkey").join(scan("nation"), left_on="s_nationkey", right_on="n_nationkey")
            .join(scan("orders"), left_on="l_orderkey", right_on="o_orderkey")
            .filter(col("o_orderstatus") == "F", col("n_name") == "SAUDI ARABIA").group_by("s_name").agg(rows().alias("numwait"))
            .sort("numwait", "s_name", descending=[True, False]).head(100))


def q22(scan, sf):
    chosen = (scan("customer").with_columns(cntrycode=col("c_phone").str.slice(0, 2))
              .filter(col("cntrycode").is_in(["13", "31", "23", "29", "30", "18", "17"]), col("c_acctbal") > 0))
    return (chosen.filter(col("c_acctbal").cast(float) > col("c_acctbal").cast(float).mean())
            .join(scan("orders"), left_on="c_custkey", right_on="o_custkey", how="anti").group_by("cntrycode")
            .agg(rows().alias("numcust"), col("c_acctbal").sum().alias("totacctbal")).sort("cntrycode"))
