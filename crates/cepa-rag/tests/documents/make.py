"""Makes the documents beside it: python3 make.py, with the packages that README.md names."""

import docx
import openpyxl
import pptx
import pptx.util
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

# Word
document = docx.Document()
document.add_heading("Keeping bees", 0)
document.add_paragraph("Bees need flowers, water and a dry place.")
document.add_heading("Hives", 1)
paragraph = document.add_paragraph("A hive of ")
paragraph.add_run("pine").bold = True
paragraph.add_run(" wood & straw lasts for years.")
document.add_paragraph("Frames", style="List Bullet")
document.add_paragraph("A lid | a floor", style="List Bullet")
document.add_heading("Weights", 2)
table = document.add_table(rows=1, cols=2)
table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Part", "Kilograms"
for part, weight in [("Frame", "0.4"), ("Full hive", "60")]:
    cells = table.add_row().cells
    cells[0].text, cells[1].text = part, weight
document.add_heading("Honey", 1)
document.add_paragraph("Harvest in July, über der Wiese, 蜂蜜.\tNot before.")
document.save("bees.docx")

# PowerPoint
slides = pptx.Presentation()
slide = slides.slides.add_slide(slides.slide_layouts[1])
slide.shapes.title.text = "The swarm"
slide.placeholders[1].text = "A swarm leaves in May\nIt follows its old queen"
slide.notes_slide.notes_text_frame.text = "Ask who has seen one."
slide = slides.slides.add_slide(slides.slide_layouts[5])
slide.shapes.title.text = "Numbers"
grid = slide.shapes.add_table(2, 2, pptx.util.Cm(2), pptx.util.Cm(6), pptx.util.Cm(12), pptx.util.Cm(3)).table
for row, values in enumerate([("Bees", "Year"), ("20000", "2024")]):
    for column, value in enumerate(values):
        grid.cell(row, column).text = value
slides.save("swarm.pptx")

# Excel
book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Harvest"
sheet.append(["Hive", "Kilograms", "Day", "Sold"])
import datetime

sheet.append(["North", 12.5, datetime.date(2024, 7, 3), True])
sheet.append(["South", 9, datetime.datetime(2024, 7, 4, 6, 30), False])
sheet["A6"] = "Two\nlines"
sheet["D6"] = "far"
costs = book.create_sheet("Costs")
costs.append(["What", "Euro"])
costs.append(["Jars", 40])
book.create_sheet("Empty")
book.save("harvest.xlsx")

# PDF, of two pages, the second with a picture
Image.new("RGB", (12, 8), (250, 200, 40)).save("honey.png")
pages = canvas.Canvas("wax.pdf", pagesize=A4, invariant=1)
pages.setFont("Helvetica", 12)
pages.drawString(72, 760, "Wax melts at sixty-two degrees.")
pages.drawString(72, 740, "Candles of wax burn long.")
pages.showPage()
pages.drawString(72, 760, "Old combs are melted in spring.")
pages.drawImage("honey.png", 72, 600, 120, 80)
pages.showPage()
pages.save()
