class FilterModule:
    def filters(self):
        return {'half': lambda v: v / 2}
