"""The CSV file of bench/programs/filter.flow and filter_whole.flow: 1,200,000 rows of eight numbers and a text, about 100 MB."""


def write(path):
    lines = [",".join(f"{(i * 7919 + k * 104729) % 1000003 / 1000.003:.4f}" for k in range(8)) + f",some text {i % 1000}\n"
             for i in range(10_000)]
    with open(path, "w") as out:
        out.write("a,b,c,d,e,f,g,h,note\n")
        out.writelines(lines * 120)
